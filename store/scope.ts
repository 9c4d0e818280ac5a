/**
 * Whose data a query may see. Every read and write of tenant data takes one, and {@link withinScope} is the one place
 * that turns it into SQL. `projectId: null` means every project of the organization.
 */
export interface Scope {
  organizationId: string;
  projectId: string | null;
}

/** A scope that names one project: what is needed to create something. */
export interface ProjectScope extends Scope {
  projectId: string;
}

/** One page of a list. `hasMore` tells whether rows follow after `offset + rows.length`. */
export interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** Where a page starts and how many rows it holds at most. */
export interface PageRequest {
  limit: number;
  offset: number;
}
