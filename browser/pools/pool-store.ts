import type { BrowserPoolConfig } from '../../contract/browser-pools.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** What a pool is, and what its configuration means: ids outlive names. */
export interface PoolDefinition {
  name: string | null;
  config: BrowserPoolConfig;
  profileId: string | null;
  extensionIds: string[];
}

/** A pool as the store keeps it. */
export interface StoredPool extends PoolDefinition {
  id: string;
  projectId: string;
  createdAt: Date;
}

/** What the browser service needs of the store to keep pools. It alone writes them. */
export interface PoolStore {
  all(): Promise<StoredPool[]>;
  /** Rejects with `already_exists` when the project has a pool of that name. */
  create(projectId: string, definition: PoolDefinition): Promise<StoredPool>;
  /** The same; rejects with `not_found` when there is no such pool. */
  update(projectId: string, id: string, definition: PoolDefinition): Promise<StoredPool>;
  remove(projectId: string, id: string): Promise<void>;
}

/** The pools of a service that keeps none. */
export const NO_POOLS: PoolStore = {
  all: () => Promise.resolve([]),
  create: () => Promise.reject(noStore()),
  update: () => Promise.reject(noStore()),
  remove: () => Promise.resolve(),
};

function noStore(): HoldfastError {
  return new HoldfastError('operation_failed', 'This browser service has no store to keep pools in');
}
