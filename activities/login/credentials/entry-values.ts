import { setTimeout as sleep } from 'node:timers/promises';
import type { EnterInput, FieldEntry } from '../../../contract/activities.ts';
import { isOneTime } from '../../../contract/code-fields.ts';
import type { Page } from 'playwright-core';
import { readTotpSetup } from '../../../reader/signs/totp-setup.ts';
import type { ValueOwner } from '../allowed-sites.ts';
import { openAttachedCredential, valueOwner, TOTP_SECRET } from './attached-credential.ts';
import type { LoginDeps } from '../deps.ts';
import { failure } from '../../activity.ts';
import { collectFrames } from '../reading/frames.ts';
import type { TypedValue } from './pending-credential.ts';
import { Secret, TOTP } from 'otpauth';
import { readTotpSecret } from '../../../contract/totp-secret.ts';
import type { Store } from '../../../store/store.ts';

/** One value to type. `owner`: whom a stored value belongs to; null for one that a person has just given for this field. */
export interface OpenedValue {
  entry: FieldEntry;
  text: string;
  owner: ValueOwner | null;
  /** What is saved to the credential once the login has succeeded. */
  pending: Omit<TypedValue, 'origin'> | null;
}

/** Opens the values of an answer. Fails with `submission_gone`, or `element_not_found` if a new authenticator's secret is gone. */
export async function openValues(
  deps: LoginDeps,
  input: EnterInput,
  page: Page,
  signal: AbortSignal,
): Promise<OpenedValue[]> {
  const submission = input.submissionId === null ? null : await deps.store.submissions.open(input.submissionId);
  if (input.submissionId !== null && submission === null)
    throw failure('submission_gone', 'the submitted values no longer exist; they are asked for again', true);
  const needsCredential = input.answer.entries.some(({ source }) => source.kind !== 'submission');
  const credential =
    needsCredential && input.credentialId !== null
      ? await openAttachedCredential(deps, input.target, input.credentialId)
      : null;
  const values: OpenedValue[] = [];
  for (const entry of input.answer.entries) {
    const opened = await openValue(entry);
    if (opened === undefined)
      throw failure('submission_gone', 'a value to type no longer exists; it is asked for again', true);
    values.push({ entry, ...opened });
  }
  return values;

  async function openValue({ source, field, ref }: FieldEntry): Promise<Omit<OpenedValue, 'entry'> | undefined> {
    switch (source.kind) {
      case 'submission': {
        const text = submission?.values[source.fieldId];
        if (text === undefined) return undefined;
        return { text, owner: null, pending: isOneTime(field) ? null : { ref, text } };
      }
      case 'credential': {
        const text = credential?.values[source.key];
        if (credential === null || text === undefined) return undefined;
        return { text, owner: valueOwner(credential, source.key), pending: null };
      }
      case 'totp': {
        if (credential === null || credential.totpSecret === null || input.credentialId === null) return undefined;
        const text = await claimTotpCode(deps.store, input.credentialId, credential.totpSecret, signal);
        return { text, owner: valueOwner(credential, TOTP_SECRET), pending: null };
      }
      case 'enrolment': {
        const secret = readTotpSetup(await collectFrames(page))?.secret;
        if (secret === undefined)
          throw failure('element_not_found', 'the page no longer shows the new authenticator', true);
        const pending = { ref: TOTP_SECRET, text: secret };
        return { text: await currentTotpCode(secret, signal), owner: null, pending };
      }
    }
  }
}

/** Whether a value must be shown to nobody. User names may be shown: a person must see which account is meant. */
export function isSecret({ entry }: OpenedValue): boolean {
  return entry.field.type !== 'identifier';
}

/** A code with less time left than this may arrive too late, so the next one is awaited. */
const MIN_REMAINING_MS = 4000;

/** The current code of a TOTP secret (RFC 6238), at most once per period: sites reject used codes. May wait for the next one. */
async function claimTotpCode(
  store: Pick<Store, 'totpUses'>,
  credentialId: string,
  secret: string,
  signal: AbortSignal,
): Promise<string> {
  const totp = totpOf(secret);
  for (;;) {
    const now = Date.now();
    const left = totp.remaining({ timestamp: now });
    if (left > MIN_REMAINING_MS && (await store.totpUses.claim(credentialId, totp.counter({ timestamp: now }))))
      return totp.generate({ timestamp: now });
    signal.throwIfAborted();
    await sleep(Math.min(left + 50, 1000));
  }
}

/** The current code of a new secret. Waits for the next one if it is about to expire. */
async function currentTotpCode(secret: string, signal: AbortSignal): Promise<string> {
  const totp = totpOf(secret);
  while (totp.remaining() <= MIN_REMAINING_MS) {
    signal.throwIfAborted();
    await sleep(250);
  }
  return totp.generate();
}

function totpOf(text: string): TOTP {
  const parameters = readTotpSecret(text);
  if (parameters === null)
    throw failure('internal_error', 'the saved TOTP secret cannot be read; store it again', true);
  return new TOTP({ ...parameters, secret: Secret.fromBase32(parameters.secret) });
}
