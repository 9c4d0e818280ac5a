import type { EnterInput, FieldEntry } from '../../../contract/activities.ts';
import { asksForCode } from '../../../contract/code-fields.ts';
import type { Page } from 'playwright-core';
import { readEnrolment } from '../../../reader/enrolment.ts';
import type { ValueOwner } from '../allowed-sites.ts';
import { openAttachedCredential, valueOwner, TOTP_SECRET, type CredentialOwner } from './attached-credential.ts';
import type { LoginDeps } from '../deps.ts';
import { failure } from '../../activity.ts';
import { collectFrames } from '../reading/frames.ts';
import { packTyped, unpackTyped, type TypedValue } from './pending-credential.ts';
import { Secret, TOTP } from 'otpauth';
import { readTotpSecret } from '../../../contract/totp-secret.ts';
import type { Store } from '../../../store/store.ts';

/** One value to type. `owner`: whom a stored one belongs to; null for what a person has just given for this very field. */
export interface OpenedValue {
  entry: FieldEntry;
  text: string;
  owner: ValueOwner | null;
  /** What the credential is given once the login has proved good. */
  keeps: Omit<TypedValue, 'origin'> | null;
}

/**
 * Values in the order of the entries. Fails with `submission_gone` where one is gone, and with `element_not_found` where the page
 * does not show the secret of the authenticator any more.
 */
export async function openValues(
  deps: LoginDeps,
  input: EnterInput,
  page: Page,
  signal: AbortSignal,
): Promise<OpenedValue[]> {
  const submission = input.submissionId === null ? null : await deps.store.submissions.open(input.submissionId);
  if (input.submissionId !== null && submission === null)
    throw failure('submission_gone', 'the submitted values are gone; they are asked for again', true);
  const needsCredential = input.answer.entries.some(({ source }) => source.kind !== 'submission');
  const credential =
    needsCredential && input.credentialId !== null
      ? await openAttachedCredential(deps, input.target, input.credentialId)
      : null;
  const values: OpenedValue[] = [];
  for (const entry of input.answer.entries) {
    if (entry.source.kind === 'enrolment') {
      const secret = readEnrolment(await collectFrames(page))?.secret;
      if (secret === undefined) throw failure('element_not_found', 'the new authenticator is gone from the page', true);
      values.push({
        entry,
        text: await currentTotpCode(secret, signal),
        owner: null,
        keeps: { ref: TOTP_SECRET, text: secret },
      });
      continue;
    }
    const text = await textOf(entry);
    if (text === undefined) throw failure('submission_gone', 'a value to type is gone; it is asked for again', true);
    const isLasting = entry.source.kind === 'submission' && !asksForCode(entry.field.type);
    values.push({
      entry,
      text,
      owner: credential === null ? null : ownerFor(entry, credential),
      keeps: isLasting ? { ref: entry.ref, text } : null,
    });
  }
  return values;

  async function textOf({ source }: FieldEntry): Promise<string | undefined> {
    switch (source.kind) {
      case 'submission':
        return submission?.values[source.fieldId];
      case 'credential':
        return credential?.values[source.key];
      case 'totp':
        if (credential === null || credential.totpSecret === null || input.credentialId === null) return undefined;
        return await claimTotpCode(deps.store, input.credentialId, credential.totpSecret, signal);
      case 'enrolment':
        return undefined;
    }
  }
}

function ownerFor({ source }: FieldEntry, credential: CredentialOwner): ValueOwner | null {
  switch (source.kind) {
    case 'submission':
    case 'enrolment':
      return null;
    case 'credential':
      return valueOwner(credential, source.key);
    case 'totp':
      return valueOwner(credential, TOTP_SECRET);
  }
}

/** Whether nobody but the site and its visitor may see a value. A user name is what a person must see to know which account is meant. */
export function isSecret({ entry }: OpenedValue): boolean {
  return entry.field.type !== 'identifier';
}

/** Under this name the values of an entering are kept: who follows a lost worker finds them by it. */
export function pendingValuesKey(flowId: string, entryId: string): string {
  return `kept:${flowId}:${entryId}`;
}

/** Keeps what a person gave and where it was typed, without one-time codes. */
export async function keepTypedValues(
  deps: LoginDeps,
  input: EnterInput,
  values: OpenedValue[],
  origins: string[],
): Promise<string | null> {
  const fresh: TypedValue[] = [];
  for (const [index, { keeps }] of values.entries())
    if (keeps !== null) fresh.push({ ...keeps, origin: origins[index] ?? '' });
  return await addPendingValues(deps, input, input.keptId, fresh);
}

/** Seals what the credential learns until the login proves good, with what was kept earlier. */
export async function addPendingValues(
  deps: LoginDeps,
  input: EnterInput,
  keptId: string | null,
  fresh: TypedValue[],
): Promise<string | null> {
  if (fresh.length === 0) return keptId;
  const earlier = keptId === null ? null : await deps.store.submissions.open(keptId);
  const replaced = new Set(fresh.map(({ ref }) => ref));
  const { submissionId } = await deps.store.submissions.seal({
    connectionId: input.target.connectionId,
    interactionId: pendingValuesKey(input.flowId, input.entryId),
    values: packTyped([...unpackTyped(earlier?.values ?? {}).filter(({ ref }) => !replaced.has(ref)), ...fresh]),
    expiresAt: new Date(input.keepUntil),
    withoutCodes: true,
  });
  if (keptId !== null && keptId !== submissionId) await deps.store.submissions.destroy(keptId);
  return submissionId;
}

/** In the last seconds of a period a code may arrive too late: the next one is awaited (security.md). */
const LAST_SECONDS_MS = 4000;

/**
 * The current code of a credential's TOTP secret (RFC 6238), never the same period's twice: sites refuse a code that was
 * used. Waits up to a period where it must.
 */
export async function claimTotpCode(
  store: Pick<Store, 'totpUses'>,
  credentialId: string,
  secret: string,
  signal: AbortSignal,
): Promise<string> {
  const totp = totpOf(secret);
  for (;;) {
    const now = Date.now();
    const left = totp.remaining({ timestamp: now });
    if (left > LAST_SECONDS_MS && (await store.totpUses.claim(credentialId, totp.counter({ timestamp: now }))))
      return totp.generate({ timestamp: now });
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, Math.min(left + 50, 1000)));
  }
}

/** The current code of a secret that nobody has used yet. Waits for the next one where this one is about to end. */
export async function currentTotpCode(secret: string, signal: AbortSignal): Promise<string> {
  const totp = totpOf(secret);
  while (totp.remaining() <= LAST_SECONDS_MS) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return totp.generate();
}

function totpOf(text: string): TOTP {
  const parameters = readTotpSecret(text);
  if (parameters === null)
    throw failure('internal_error', 'the saved TOTP secret cannot be read; store it again', true);
  return new TOTP({ ...parameters, secret: Secret.fromBase32(parameters.secret) });
}
