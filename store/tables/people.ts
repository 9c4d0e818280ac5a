import type { Role } from '../../contract/people.ts';
import type { Json } from './columns.ts';

/** Users of the console, and how they sign in. */
export interface PeopleTables {
  users: {
    id: string;
    /** The organization whose key seals the secrets of the row. */
    organization_id: string;
    /** In lower case. */
    email: string;
    name: string | null;
    password_hash: string | null;
    sealed_totp_secret: Buffer | null;
    /** A password and authenticator secret that no code has confirmed yet. */
    sealed_pending_password: Buffer | null;
    /** OpenID issuer and subject of the user. */
    oidc_subject: string | null;
    created_at: Date;
    updated_at: Date;
  };
  user_passkeys: {
    id: string;
    user_id: string;
    name: string;
    public_key: Buffer;
    counter: number;
    transports: Json<string[]>;
    created_at: Date;
    last_used_at: Date | null;
  };
  memberships: { organization_id: string; user_id: string; role: Role; created_at: Date };
  invitations: {
    id: string;
    organization_id: string;
    email: string;
    role: Role;
    code_hash: Buffer;
    invited_by: string;
    created_at: Date;
    expires_at: Date;
  };
  /** Sessions of users; they end with the membership. */
  user_sessions: {
    id: string;
    token_hash: Buffer;
    user_id: string;
    organization_id: string;
    created_at: Date;
    last_seen_at: Date;
    expires_at: Date;
    /** When the user last confirmed their identity. */
    confirmed_at: Date | null;
  };
  /** Single-use codes for signing in: links, challenges. */
  sign_in_codes: {
    code_hash: Buffer;
    purpose: string;
    user_id: string | null;
    data: Json<unknown>;
    created_at: Date;
    expires_at: Date;
    redeemed_at: Date | null;
  };
}
