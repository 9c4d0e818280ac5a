import { isAtLeast, type Role } from '../../contract/people.ts';

/** A rule that grants a role to everyone of an email domain or a group of the OpenID provider. */
export interface OidcRule {
  who: { domain: string } | { group: string };
  organizationId: string;
  role: Role;
}

/** A signed-in person's claims. */
export interface OidcPerson {
  /** Lower case, verified by the provider. */
  email: string;
  groups: readonly string[];
}

/** The organizations and roles that the rules grant a person; the highest role per organization. */
export function grantedRoles(rules: readonly OidcRule[], { email, groups }: OidcPerson): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const { who, organizationId, role } of rules) {
    // Match the whole domain: subdomains may belong to anyone.
    const matches = 'domain' in who ? email.endsWith(`@${who.domain}`) : groups.includes(who.group);
    const former = roles.get(organizationId);
    if (matches && (former === undefined || isAtLeast(role, former))) roles.set(organizationId, role);
  }
  return roles;
}
