import type { Scope } from "../scope.ts";

/** The plans of interface.md; they decide the smallest health check interval. */
export type Plan = "enterprise" | "startup" | "hobbyist" | "free";

/** An organization: the tenant, the owner of a data key, the bearer of a plan. */
export interface OrganizationRecord {
  id: string;
  name: string;
  plan: Plan;
  createdAt: Date;
}

/** A project: isolation of resources inside an organization. */
export interface ProjectRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
}

/** Organizations. */
export interface OrganizationQueries {
  find(organizationId: string): Promise<OrganizationRecord | null>;
  /** Makes an organization with its data key and one project. Answers the existing one when the id is taken. */
  create(input: {
    id: string;
    name: string;
    plan: Plan;
  }): Promise<OrganizationRecord>;
  setPlan(organizationId: string, plan: Plan): Promise<void>;
}

/** Projects. */
export interface ProjectQueries {
  /** Null when the project does not exist or belongs to another organization. */
  find(scope: Scope, projectId: string): Promise<ProjectRecord | null>;
  /** The project that an organization-wide credential writes to when it names none: the oldest one. */
  defaultOf(organizationId: string): Promise<ProjectRecord>;
  list(organizationId: string): Promise<ProjectRecord[]>;
  create(
    organizationId: string,
    input: { id?: string; name: string },
  ): Promise<ProjectRecord>;
}
