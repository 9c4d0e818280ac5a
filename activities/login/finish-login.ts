import type { FinishInput, FinishOutcome, LoginTarget } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { credentialFacts, TOTP_SECRET } from './credentials/attached-credential.ts';
import type { LoginDeps } from './deps.ts';
import { homeUrl } from './find-login-page.ts';
import { failure } from '../activity.ts';
import { isAuthorizationRequest, sanitizeUrl, isSamePage, hostAndPath } from './urls.ts';
import type { Passkeys } from './credentials/passkeys.ts';
import type { Passkey } from '../../contract/passkeys.ts';
import { saveOnClose, saveWithRollback, withProfileSession } from './session/profile-session.ts';
import { saveRecordings } from './session/record-session.ts';
import {
  passkeyToTypedValue,
  toCredentialPatch,
  unpackTyped,
  type TypedValue,
} from './credentials/pending-credential.ts';
import { typedSecrets } from './entering/typed-secrets.ts';
import type { Page } from 'playwright-core';
import { inTime } from '../../contract/in-time.ts';
import { asksForLogin, readRestored, verdictOf, type Verdict } from './checks/verdict.ts';
import { createHash } from 'node:crypto';
import type { KnownAccount } from '../../contract/document.ts';
import { namedAccount } from '../../reader/account.ts';
import { collectFrames } from './reading/frames.ts';

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
  const isMidAuthorization = isAuthorizationRequest(page.url());
  const postLoginUrl = isMidAuthorization
    ? homeUrl(target.domain, deps.egress)
    : sanitizeUrl(page.url(), typedSecrets(page));
  const account = await readAccount(page, target);
  if (isDifferentAccount(target.account, account))
    throw failure('account_mismatch', 'the page names another account than before', true);
  const created = await passkeys.takeCreated(target, sessionId);
  // While the session is still there: a run after one that failed here finds it, and what was kept, again.
  if (input.saveCredentials) await savePasskeysExternally(deps, input, created);
  await deps.pages.release(sessionId);
  const undo = await saveWithRollback(deps.store, target, async () => {
    await saveOnClose(deps, target, sessionId);
    await saveRecordings(deps, target, sessionId, signal);
    await deleteSession(deps.service, target.projectId, sessionId);
  });
  const proof =
    input.wasLoggedIn === true ? 'authenticated' : await verifyLogin(deps, target, input.flowId, postLoginUrl, signal);
  if (proof === 'expired') {
    await undo();
    throw failure('session_not_persistent', 'the saved profile is not logged in when it is opened again', true);
  }
  // What else an external secret store lacks is its owner's to add: no copy of it is kept here.
  const keepsValues = input.saveCredentials && target.externalCredential === undefined;
  const saved = keepsValues ? await saveCredential(deps, input, created.map(passkeyToTypedValue)) : null;
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
async function savePasskeysExternally(
  { store, externalCredentials }: LoginDeps,
  { target, keptId }: FinishInput,
  created: readonly Passkey[],
): Promise<void> {
  if (target.externalCredential === undefined) return;
  const kept = keptId === null ? null : await store.submissions.open(keptId);
  const { passkeys = [] } = toCredentialPatch(
    [...unpackTyped(kept?.values ?? {}), ...created.map(passkeyToTypedValue)],
    null,
  );
  if (passkeys.length === 0) return;
  const { facts } = await externalCredentials.find(target, target.externalCredential);
  await externalCredentials.addPasskeys(target, facts.id, passkeys);
}

/** Merges what was typed into the attached credential, or into one of the connection's own that is made for it. */
async function saveCredential(
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
  const { ssoProvider, ...rest } = toCredentialPatch(typed, provider);
  // Without a password, what is saved says nothing of how the next login goes.
  const patch = typed.some(({ ref }) => ref === 'password') || ssoProvider !== null ? { ...rest, ssoProvider } : rest;
  const existing = await deps.store.credentials.patch(scope, name, patch);
  if (existing === null) await deps.store.credentials.create(scope, { name, domain: target.domain, ...patch });
  return { name };
}

/** Longest that a person waits for the proof, in milliseconds: a site that is silent proves nothing. */
const PROOF_WITHIN_MS = 30_000;

/**
 * Opens the profile of a login that has just been saved afresh, and looks where the login landed. `expired` only when the
 * site asks for a login again; a site or a browser service that is away makes it `inconclusive`. What the site refreshes
 * meanwhile is saved.
 */
export async function verifyLogin(
  deps: LoginDeps,
  target: LoginTarget,
  flowId: string,
  landing: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const { telemetry: _telemetry, ...browser } = target.browser ?? {};
  // Nobody has asked for a recording or telemetry of this look.
  const unseen = { ...target, browser, recordSession: false };
  const home = homeUrl(target.domain, deps.egress);
  try {
    return await withProfileSession(deps, unseen, `proof-${flowId}`, signal, async ({ page, session }) => {
      const verdict = await inTime(lookAgain(page, landing, home), PROOF_WITHIN_MS, 'inconclusive' as const);
      if (verdict === 'authenticated') await saveOnClose(deps, target, session.session_id);
      return verdict;
    });
  } catch {
    signal.throwIfAborted();
    return 'inconclusive';
  }
}

/** The landing page was inside when the login ended. A page that asks for a login now is held against the home page. */
async function lookAgain(page: Page, landing: string, home: string): Promise<Verdict> {
  const first = await readRestored(page, landing);
  if (!asksForLogin(first)) return verdictOf(first);
  const atHome = isSamePage(landing, home) ? first : await readRestored(page, home);
  if (verdictOf(atHome) === 'authenticated') return 'authenticated';
  // A form at its own address is shown by some sites to whoever asks for it, logged in or not.
  return asksForLogin(atHome) || !isSamePage(first.url, landing) ? 'expired' : 'inconclusive';
}

/** The account that a signed-in page names, or null. Its names leave the page as fingerprints of this connection alone. */
export async function readAccount(
  page: Page,
  { connectionId }: Pick<LoginTarget, 'connectionId'>,
): Promise<KnownAccount | null> {
  const { email, name } = namedAccount(await collectFrames(page));
  if (email === undefined && name === undefined) return null;
  const fingerprint = (named: string): string =>
    createHash('sha256').update(`${connectionId}\n${named}`).digest('base64url').slice(0, 22);
  return {
    page: hostAndPath(page.url()),
    ...(email === undefined ? {} : { email: fingerprint(email) }),
    ...(name === undefined ? {} : { name: fingerprint(name) }),
  };
}

/**
 * True only when the same page named another account before. The address decides; a name does where no address is known.
 * Pure.
 */
export function isDifferentAccount(before: KnownAccount | null | undefined, now: KnownAccount | null): boolean {
  if (before === null || before === undefined || now === null || before.page !== now.page) return false;
  if (before.email !== undefined && now.email !== undefined) return before.email !== now.email;
  return before.name !== undefined && now.name !== undefined && before.name !== now.name;
}
