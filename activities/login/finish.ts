import type { FinishInput, FinishOutcome } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { accountOn, isOtherAccount } from './account.ts';
import { credentialFacts, TOTP_SECRET } from './credential-facts.ts';
import type { LoginDeps } from './deps.ts';
import { homeUrl } from './discover.ts';
import { failure } from './faults.ts';
import { isAuthorizationRequest, shownUrl } from './landing-url.ts';
import type { Passkeys } from './passkeys.ts';
import type { Passkey } from '../../contract/passkeys.ts';
import { saveAtEnd } from './profile-session.ts';
import { proveLogin } from './prove-login.ts';
import { keepRecordings } from './record-session.ts';
import { saveUndoably } from './undoable-save.ts';
import { asTyped, patchOf, unpackTyped, type TypedValue } from './typed-values.ts';
import { secretsTypedInto } from './without-typed.ts';

/**
 * Ends a good login: the session is saved to the profile, which is opened afresh to see that the login has lasted; then what a
 * person typed is saved to the credential. A passkey for an external secret store is written there before anything is saved. Fails with `account_mismatch` before it saves anything, and with
 * `session_not_persistent`, which leaves the profile as it was. A run that follows a lost one finds the session gone; the
 * flow then opens the profile anew and sees whether it was saved.
 */
export async function finishLogin(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: FinishInput,
  signal: AbortSignal,
): Promise<FinishOutcome> {
  const { target, sessionId } = input;
  const page = await deps.pages.of(target.projectId, sessionId);
  const isOnItsWay = isAuthorizationRequest(page.url());
  const postLoginUrl = isOnItsWay ? homeUrl(target.domain, deps.egress) : shownUrl(page.url(), secretsTypedInto(page));
  const account = await accountOn(page, target);
  if (isOtherAccount(target.account, account))
    throw failure('account_mismatch', 'the page names another account than before', true);
  const created = await passkeys.takeCreated(target, sessionId);
  // While the session is still there: a run after one that failed here finds it, and what was kept, again.
  if (input.saveCredentials) await writePasskeys(deps, input, created);
  await deps.pages.release(sessionId);
  const undo = await saveUndoably(deps.store, target, async () => {
    await saveAtEnd(deps, target, sessionId);
    await keepRecordings(deps, target, sessionId, signal);
    await deleteSession(deps.service, target.projectId, sessionId);
  });
  const proof =
    input.wasLoggedIn === true ? 'authenticated' : await proveLogin(deps, target, input.flowId, postLoginUrl, signal);
  if (proof === 'expired') {
    await undo();
    throw failure('session_not_persistent', 'the saved profile is not logged in when it is opened again', true);
  }
  // What else an external secret store lacks is its owner's to add: no copy of it is kept here.
  const keepsValues = input.saveCredentials && target.externalCredential === undefined;
  const saved = keepsValues ? await saveTyped(deps, input, created.map(asTyped)) : null;
  if (input.keptId !== null) await deps.store.submissions.destroy(input.keptId);
  const credentialName = saved?.name ?? target.credentialName;
  return {
    postLoginUrl,
    credentialName: saved?.name ?? null,
    account,
    credential: await credentialFacts(deps, { ...target, credentialName }),
  };
}

/** Writes the passkeys that the site has created to the item of the external secret store that is attached, if one is. */
async function writePasskeys(
  { store, externalCredentials }: LoginDeps,
  { target, keptId }: FinishInput,
  created: readonly Passkey[],
): Promise<void> {
  if (target.externalCredential === undefined) return;
  const kept = keptId === null ? null : await store.submissions.open(keptId);
  const { passkeys = [] } = patchOf([...unpackTyped(kept?.values ?? {}), ...created.map(asTyped)], null);
  if (passkeys.length === 0) return;
  const { facts } = await externalCredentials.find(target, target.externalCredential);
  await externalCredentials.addPasskeys(target, facts.id, passkeys);
}

/** Merges what was typed into the attached credential, or into one of the connection's own that is made for it. */
async function saveTyped(
  deps: LoginDeps,
  { target, keptId, provider = null, keepsAuthenticator = true }: FinishInput,
  created: TypedValue[],
): Promise<{ name: string } | null> {
  const kept = keptId === null ? null : await deps.store.submissions.open(keptId);
  const given = unpackTyped(kept?.values ?? {}).filter(({ ref }) => keepsAuthenticator || ref !== TOTP_SECRET);
  const typed = [...given, ...created];
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
