import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import { deleteSession, updateSession, type Session } from '../../../browser-client/sessions.ts';
import type { LoginDeps } from '../deps.ts';
import { openLoginSession } from './open-session.ts';
import { saveRecordings, recordSession, type RecordingResult } from './record-session.ts';
import { mergeStates } from '../../../store/profile-state/merge.ts';
import { readState } from '../../../store/profile-state/state.ts';
import type { Store } from '../../../store/store.ts';

/** Longer than the slowest check, so that the timeout ends a session only after its worker was lost. */
const SESSION_SECONDS = 180;

/** A session on the saved profile, and its page. */
export interface ProfileSession extends RecordingResult {
  session: Session;
  page: Page;
}

/**
 * Runs `work` in a separate session on the saved profile, which is deleted afterwards in every case. Nothing is saved unless `work`
 * calls {@link saveOnClose}. A retry with the same `name` reuses the session of a lost attempt.
 */
export async function withProfileSession<Result>(
  deps: LoginDeps,
  target: LoginTarget,
  name: string,
  signal: AbortSignal,
  work: (opened: ProfileSession) => Promise<Result>,
): Promise<Result> {
  const { service, pages } = deps;
  const { projectId } = target;
  const session = await openLoginSession(service, target, name, SESSION_SECONDS, signal);
  const id = session.session_id;
  try {
    const recorded = await recordSession(service, target, id, SESSION_SECONDS, signal);
    return await work({ session, page: await pages.of(projectId, id, session.cdp_ws_url), ...recorded });
  } finally {
    await pages.release(id);
    await saveRecordings(deps, target, id, signal).catch(() => undefined);
    await deleteSession(service, projectId, id).catch(() => undefined);
  }
}

/** Makes a session save its profile when it ends, with the cookies that the site has refreshed. */
export async function saveOnClose(
  { service }: Pick<LoginDeps, 'service'>,
  { projectId, profileName }: Pick<LoginTarget, 'projectId' | 'profileName'>,
  sessionId: string,
): Promise<void> {
  await updateSession(service, projectId, sessionId, { profile: { name: profileName, save_changes: true } });
}

/**
 * Runs `save`, which saves a session to the profile, and returns a function that reverts what it changed without touching what was
 * saved since. It reverts nothing if another session saved concurrently, or if the browser service keeps profiles elsewhere.
 */
export async function saveWithRollback(
  { profiles }: Pick<Store, 'profiles'>,
  { projectId, profileName }: Pick<LoginTarget, 'projectId' | 'profileName'>,
  save: () => Promise<void>,
): Promise<() => Promise<void>> {
  const read = () => profiles.load(projectId, { name: profileName });
  const before = await read();
  await save();
  const after = await read();
  const isOnlySave = before !== null && after?.id === before.id && after.revision === before.revision + 1;
  if (!isOnlySave) return () => Promise.resolve();
  const [was, saved] = [readState(before.state), readState(after.state)];
  return async () => {
    await profiles.save(projectId, before.id, (stored) => mergeStates(saved, was, readState(stored)));
  };
}
