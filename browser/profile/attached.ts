import type { ProfileState } from './state.ts';

/** The profile that a session opened. */
export interface AttachedProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | undefined;
  /** Whether the end of the session saves to it. */
  saveChanges: boolean;
  /** The state right after loading, as this browser shows it: what differs later was changed by this session. */
  baseline: ProfileState;
}
