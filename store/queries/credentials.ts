import type { Page, PageRequest, ProjectScope, Scope } from "../scope.ts";

/** A stored credential without its values. */
export interface CredentialRecord {
  id: string;
  projectId: string;
  name: string;
  domain: string;
  ssoProvider: string | null;
  valueKeys: string[];
  hasTotpSecret: boolean;
  /** Grows with every change of a value; tells a login whether what it tried has been replaced. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What the workflow may know of a credential: no value. */
export interface CredentialSummary {
  id: string;
  name: string;
  version: number;
  valueKeys: string[];
  hasTotpSecret: boolean;
  ssoProvider: string | null;
}

/** The secrets of a credential. For activities alone; never log, never return from an activity. */
export interface OpenedCredential {
  values: Record<string, string>;
  totpSecret: string | null;
  version: number;
}

/** Changes of a credential: `removeValueKeys` first, then `values` merged; `totpSecret: ''` removes the secret. */
export interface CredentialPatch {
  name?: string;
  removeValueKeys?: string[];
  values?: Record<string, string>;
  totpSecret?: string;
  ssoProvider?: string | null;
}

/** Credentials: values are sealed and write-only. */
export interface CredentialQueries {
  /** Throws `already_exists` when the project has a credential of that name. */
  create(
    scope: ProjectScope,
    input: {
      name: string;
      domain: string;
      values: Record<string, string>;
      totpSecret?: string;
      ssoProvider?: string | null;
    },
  ): Promise<CredentialRecord>;
  find(scope: Scope, idOrName: string): Promise<CredentialRecord | null>;
  /** Newest first. `query`: case-insensitive part of the name or of the domain. */
  list(
    scope: Scope,
    filter: PageRequest & { domain?: string; query?: string },
  ): Promise<Page<CredentialRecord>>;
  /** Null when there is none; throws `already_exists` when a new name is taken. */
  patch(
    scope: Scope,
    idOrName: string,
    patch: CredentialPatch,
  ): Promise<CredentialRecord | null>;
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** Null when it is gone. */
  open(id: string): Promise<OpenedCredential | null>;
  /** Merges values into a credential (what a person typed in a login that went well). Null when it is gone. */
  mergeValues(
    id: string,
    values: Record<string, string>,
  ): Promise<CredentialSummary | null>;
  summary(id: string): Promise<CredentialSummary | null>;
}
