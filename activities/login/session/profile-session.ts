import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import { deleteSession, updateSession, type Session } from '../../../browser-client/sessions.ts';
import type { LoginDeps } from '../deps.ts';
import { openLoginSession } from './open-session.ts';
import { saveRecordings, recordSession, type RecordingResult } from './record-session.ts';
import { mergeStates } from '../../../store/profile-state/merge.ts';
import { readState } from '../../../store/profile-state/state.ts';
import type { Store } from '../../../store/store.ts';

/** A session outlives the slowest look, so that it ends by itself only when nobody is left. */
const SESSION_SECONDS = 180;

/** A browser on the profile as it is saved. */
export interface ProfileSession extends RecordingResult {
  session: Session;
  page: Page;
}

/**
 * Looks at a site through the saved profile, in a session of its own, which ends in every case. It is saved only when
 * `look` has it saved. A retried look of the same `name` goes on with the session that the lost one has opened.
 */
export async function withProfileSession<Seen>(
  deps: LoginDeps,
  target: LoginTarget,
  name: string,
  signal: AbortSignal,
  look: (opened: ProfileSession) => Promise<Seen>,
): Promise<Seen> {
  const { service, pages } = deps;
  const { projectId } = target;
  const session = await openLoginSession(service, target, name, SESSION_SECONDS, signal);
  const id = session.session_id;
  try {
    const recorded = await recordSession(service, target, id, SESSION_SECONDS, signal);
    return await look({ session, page: await pages.of(projectId, id, session.cdp_ws_url), ...recorded });
  } finally {
    await pages.release(id);
    await saveRecordings(deps, target, id, signal).catch(() => undefined);
    await deleteSession(service, projectId, id).catch(() => undefined);
  }
}

/** Has a session saved to its profile when it ends, with the cookies that the site has refreshed. */
export async function saveOnClose(
  { service }: Pick<LoginDeps, 'service'>,
  { projectId, profileName }: Pick<LoginTarget, 'projectId' | 'profileName'>,
  sessionId: string,
): Promise<void> {
  await updateSession(service, projectId, sessionId, { profile: { name: profileName, save_changes: true } });
}

/**
 * Runs `save`, which saves a session to the profile, and answers how to take that back: what the save changed becomes what it
 * was, and what others have saved since stays. Nothing is taken back where another session saved at the same moment, nor
 * where the browser service keeps its profiles in a store of its own.
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
  const isOurs = before !== null && after?.id === before.id && after.revision === before.revision + 1;
  if (!isOurs) return () => Promise.resolve();
  const [was, saved] = [readState(before.state), readState(after.state)];
  return async () => {
    await profiles.save(projectId, before.id, (stored) => mergeStates(saved, was, readState(stored)));
  };
}
