import type { FinishInput, FinishOutcome, LoginTarget } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { credentialFacts, TOTP_SECRET } from './credentials/attached-credential.ts';
import type { LoginDeps } from './deps.ts';
import { homeUrl } from './find-login-page.ts';
import { failure } from '../activity.ts';
import { isAuthorizationRequest, sanitizeUrl, isSamePage, hostAndPath } from './urls.ts';
import type { Passkeys } from './credentials/passkeys.ts';
import { saveOnClose, saveWithRollback, withProfileSession } from './session/profile-session.ts';
import { saveRecordings } from './session/record-session.ts';
import {
  passkeyToTypedValue,
  toCredentialPatch,
  openPendingValues,
  type TypedValue,
} from './credentials/pending-credential.ts';
import { typedSecrets } from './entering/typed-secrets.ts';
import type { Page } from 'playwright-core';
import { withTimeout } from '../../contract/with-timeout.ts';
import { asksForLogin, readRestored, verdictOf, type Verdict } from './checks/verdict.ts';
import { createHash } from 'node:crypto';
import type { KnownAccount } from '../../contract/document.ts';
import { findNamedAccount } from '../../reader/signs/signed-in.ts';
import { collectFrames } from './reading/frames.ts';

/**
 * Completes a successful login: saves the session to the profile, reopens the profile to verify that the login persists, and saves
 * what a person typed to the credential. Passkeys for an external secret store are written there first. Fails with
 * `account_mismatch` before anything is saved, and with `session_not_persistent` after restoring the profile. A retry after a lost
 * worker finds the session gone; the flow then opens the profile to see whether it was saved.
 */
export async function finishLogin(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: FinishInput,
  signal: AbortSignal,
): Promise<FinishOutcome> {
  const { target, sessionId } = input;
  const page = await deps.pages.of(target.projectId, sessionId);
  const postLoginUrl = isAuthorizationRequest(page.url())
    ? homeUrl(target.domain, deps.egress)
    : sanitizeUrl(page.url(), typedSecrets(page));
  const account = await readAccount(page, target);
  if (isDifferentAccount(target.account, account))
    throw failure('account_mismatch', 'the page names another account than before', true);
  const created = (await passkeys.takeCreated(target, sessionId)).map(passkeyToTypedValue);
  // Before the session ends: if this fails, a retry still finds the session and the pending values.
  if (input.saveCredentials) await savePasskeysExternally(deps, input, created);
  await deps.pages.release(sessionId);
  const rollBack = await saveWithRollback(deps.store, target, async () => {
    await saveOnClose(deps, target, sessionId);
    await saveRecordings(deps, target, sessionId, signal);
    await deleteSession(deps.service, target.projectId, sessionId);
  });
  const verdict =
    input.wasLoggedIn === true ? 'authenticated' : await verifyLogin(deps, target, input.flowId, postLoginUrl, signal);
  if (verdict === 'expired') {
    await rollBack();
    throw failure('session_not_persistent', 'the saved profile is not logged in when it is reopened', true);
  }
  // Values missing from an external secret store are its owner's to add; no copy is kept here.
  const savesValues = input.saveCredentials && target.externalCredential === undefined;
  const saved = savesValues ? await saveCredential(deps, input, created) : null;
  if (input.keptId !== null) await deps.store.submissions.destroy(input.keptId);
  const credentialName = saved?.name ?? target.credentialName;
  return {
    postLoginUrl,
    credentialName: saved?.name ?? null,
    account,
    credential: await credentialFacts(deps, { ...target, credentialName }),
  };
}

/** Writes the passkeys that the site created to the attached item of an external secret store, if there is one. */
async function savePasskeysExternally(
  { store, externalCredentials }: LoginDeps,
  { target, keptId }: FinishInput,
  created: readonly TypedValue[],
): Promise<void> {
  if (target.externalCredential === undefined) return;
  const { passkeys = [] } = toCredentialPatch([...(await openPendingValues(store, keptId)), ...created], null);
  if (passkeys.length === 0) return;
  const { facts } = await externalCredentials.find(target, target.externalCredential);
  await externalCredentials.addPasskeys(target, facts.id, passkeys);
}

async function saveCredential(
  { store }: Pick<LoginDeps, 'store'>,
  { target, keptId, provider = null, keepsAuthenticator = true }: FinishInput,
  created: readonly TypedValue[],
): Promise<{ name: string } | null> {
  const pending = await openPendingValues(store, keptId);
  const typed = [...pending.filter(({ ref }) => keepsAuthenticator || ref !== TOTP_SECRET), ...created];
  if (typed.length === 0) return null;
  const scope = { organizationId: target.organizationId, projectId: target.projectId };
  const name = target.credentialName ?? `${target.profileName} at ${target.domain}`;
  const { ssoProvider, ...rest } = toCredentialPatch(typed, provider);
  // Without a password or provider, what is saved does not tell whether the next login goes through a provider.
  const patch = typed.some(({ ref }) => ref === 'password') || ssoProvider !== null ? { ...rest, ssoProvider } : rest;
  const existing = await store.credentials.patch(scope, name, patch);
  if (existing === null) await store.credentials.create(scope, { name, domain: target.domain, ...patch });
  return { name };
}

const VERIFY_TIMEOUT_MS = 30_000;

/**
 * Opens a freshly saved profile and reads the page where the login landed. `expired` only if the site asks for a login again; an
 * unavailable site or browser service yields `inconclusive`. Cookies that the site refreshes are saved.
 */
export async function verifyLogin(
  deps: LoginDeps,
  target: LoginTarget,
  flowId: string,
  landing: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const { telemetry: _telemetry, ...browser } = target.browser ?? {};
  // Nobody asked for a recording or telemetry of this session.
  const unrecorded = { ...target, browser, recordSession: false };
  const home = homeUrl(target.domain, deps.egress);
  try {
    return await withProfileSession(deps, unrecorded, `proof-${flowId}`, signal, async ({ page, session }) => {
      const verdict = await withTimeout(readLanding(page, landing, home), VERIFY_TIMEOUT_MS, 'inconclusive' as const);
      if (verdict === 'authenticated') await saveOnClose(deps, target, session.session_id);
      return verdict;
    });
  } catch {
    signal.throwIfAborted();
    return 'inconclusive';
  }
}

/** The landing page was signed in when the login ended. If it asks for a login now, the home page decides. */
async function readLanding(page: Page, landing: string, home: string): Promise<Verdict> {
  const first = await readRestored(page, landing);
  if (!asksForLogin(first)) return verdictOf(first);
  const atHome = isSamePage(landing, home) ? first : await readRestored(page, home);
  if (verdictOf(atHome) === 'authenticated') return 'authenticated';
  // Some sites show the form at their login URL to everyone, logged in or not.
  return asksForLogin(atHome) || !isSamePage(first.url, landing) ? 'expired' : 'inconclusive';
}

/** The account that a signed-in page shows, or null. Its names leave the page only as fingerprints that differ per connection. */
async function readAccount(
  page: Page,
  { connectionId }: Pick<LoginTarget, 'connectionId'>,
): Promise<KnownAccount | null> {
  const { email, name } = findNamedAccount(await collectFrames(page));
  if (email === undefined && name === undefined) return null;
  const fingerprint = (named: string): string =>
    createHash('sha256').update(`${connectionId}\n${named}`).digest('base64url').slice(0, 22);
  return {
    page: hostAndPath(page.url()),
    ...(email === undefined ? {} : { email: fingerprint(email) }),
    ...(name === undefined ? {} : { name: fingerprint(name) }),
  };
}

/** Whether the same page showed another account before, by email address or else by name. Pure. */
export function isDifferentAccount(before: KnownAccount | null | undefined, now: KnownAccount | null): boolean {
  if (before === null || before === undefined || now === null || before.page !== now.page) return false;
  if (before.email !== undefined && now.email !== undefined) return before.email !== now.email;
  return before.name !== undefined && now.name !== undefined && before.name !== now.name;
}
