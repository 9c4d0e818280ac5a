import { isAtLeast, type Role } from '../../contract/people.ts';

/** Whom an OpenID provider lets in, where and as what: everybody of a domain, or of a group. */
export interface OidcRule {
  who: { domain: string } | { group: string };
  organizationId: string;
  role: Role;
}

/** What a provider says of a person who has signed in there. */
export interface OidcPerson {
  /** In lower case, verified by the provider. */
  email: string;
  groups: readonly string[];
}

/** The organizations that the rules let a person into; of several roles in one, the highest. */
export function membershipsBy(rules: readonly OidcRule[], { email, groups }: OidcPerson): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const { who, organizationId, role } of rules) {
    // By the whole domain: its subdomains may be anybody's.
    const matches = 'domain' in who ? email.endsWith(`@${who.domain}`) : groups.includes(who.group);
    const former = roles.get(organizationId);
    if (matches && (former === undefined || isAtLeast(role, former))) roles.set(organizationId, role);
  }
  return roles;
}
