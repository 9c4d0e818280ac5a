import type { FinishInput, FinishOutcome } from '../../contract/activities.ts';
import { deleteSession, updateSession } from '../../browser-client/sessions.ts';
import { credentialFacts } from './credential-facts.ts';
import type { LoginDeps } from './deps.ts';
import { shownUrl } from './landing-url.ts';
import { keepRecordings } from './record-session.ts';
import { patchOf, unpackTyped } from './typed-values.ts';

/**
 * Ends a good login: the session is saved to the profile, and what a person typed to the credential. A run that follows
 * a lost one finds the session gone; the flow then opens the profile anew and sees whether it was saved.
 */
export async function finishLogin(deps: LoginDeps, input: FinishInput, signal: AbortSignal): Promise<FinishOutcome> {
  const { target, sessionId } = input;
  const page = await deps.pages.of(target.projectId, sessionId);
  const postLoginUrl = shownUrl(page.url());
  await deps.pages.release(sessionId);
  await updateSession(deps.service, target.projectId, sessionId, {
    profile: { name: target.profileName, save_changes: true },
  });
  await keepRecordings(deps, target, sessionId, signal);
  await deleteSession(deps.service, target.projectId, sessionId);
  // What an external secret store lacks is its owner's to add: no copy of it is kept here.
  const keepsValues = input.saveCredentials && target.externalCredential === undefined;
  const saved = keepsValues ? await saveTyped(deps, input) : null;
  if (input.keptId !== null) await deps.store.submissions.destroy(input.keptId);
  const credentialName = saved?.name ?? target.credentialName;
  return {
    postLoginUrl,
    credentialName: saved?.name ?? null,
    credential: await credentialFacts(deps, { ...target, credentialName }),
  };
}

/** Merges what was typed into the attached credential, or into one of the connection's own that is made for it. */
async function saveTyped(
  deps: LoginDeps,
  { target, keptId, provider = null }: FinishInput,
): Promise<{ name: string } | null> {
  const kept = keptId === null ? null : await deps.store.submissions.open(keptId);
  const typed = unpackTyped(kept?.values ?? {});
  if (typed.length === 0) return null;
  const scope = { organizationId: target.organizationId, projectId: target.projectId };
  const name = target.credentialName ?? `${target.profileName} at ${target.domain}`;
  const { ssoProvider, ...rest } = patchOf(typed, provider);
  // Without a password, what is saved says nothing of how the next login goes.
  const patch = typed.some(({ ref }) => ref === 'password') || ssoProvider !== null ? { ...rest, ssoProvider } : rest;
  const existing = await deps.store.credentials.patch(scope, name, patch);
  if (existing === null) await deps.store.credentials.create(scope, { name, domain: target.domain, ...patch });
  return { name };
}
