import type { EnterInput, EnterOutcome, FieldEntry, LoginTarget } from '../../contract/activities.ts';
import type { Page } from 'playwright-core';
import { failure } from './faults.ts';
import { authorUrl, mayTypeInto, mayTypeStored, type ValueOwner } from './allowed-site.ts';
import { credentialFactsFor, openAttached, ownerOf, TOTP_SECRET, type CredentialOwner } from './credential-facts.ts';
import type { LoginDeps } from './deps.ts';
import { fillField, frameOf, pressSubmit, takeChoice, type Hands } from './fill.ts';
import { markHeld, readAfterEntering, type Answered } from './read-after-entering.ts';
import { waitForRequestsToSettle } from './reaction.ts';
import { nextTotpCode } from './totp.ts';
import { packTyped, unpackTyped, type TypedValue } from './typed-values.ts';
import { withoutTyped } from './without-typed.ts';

/** Kinds of fields whose values are never kept. */
const ONE_TIME = new Set(['code', 'totp_code']);

/**
 * Types one answer into the page and presses its button, at most once: the ledger is claimed before the first key, so
 * that a second run of the same entering types nothing. Where a field sits is checked before anything is claimed.
 */
export async function enterAnswer(deps: LoginDeps, input: EnterInput, signal: AbortSignal): Promise<EnterOutcome> {
  const { target, flowId, entryId, answer } = input;
  const page = await deps.pages.of(target.projectId, input.sessionId);
  const hands: Hands = {
    page,
    service: deps.service,
    computer: { projectId: target.projectId, sessionId: input.sessionId },
  };
  const values = await openValues(deps, input, signal);
  const origins: string[] = [];
  for (const value of values) origins.push(await refuseWrongSite(deps, page, value, target));
  const claimed = await deps.store.typingLedger.claim({
    connectionId: target.connectionId,
    flowId,
    interactionId: entryId,
    ...(input.submissionId === null ? {} : { submissionId: input.submissionId }),
  });
  if (!claimed)
    throw failure('entry_uncertain', 'this answer was entered before; its outcome is read from the page', true);
  const keptId = await keepForLater(deps, input, values, origins);
  // From here on nobody needs the submission: what is kept for the credential is kept apart.
  if (input.submissionId !== null) await deps.store.submissions.destroy(input.submissionId);
  for (const value of values) {
    await refuseWrongSite(deps, page, value, target);
    refuseWhenLate(signal);
    await fillField(hands, value.entry.field, value.text);
  }
  if (!(await deps.store.typingLedger.advance(flowId, entryId, 'typed'))) throw abandoned();
  await waitForRequestsToSettle(
    page,
    async () => {
      refuseWhenLate(signal);
      if (!(await deps.store.typingLedger.advance(flowId, entryId, 'pressed'))) throw abandoned();
      if (answer.choice === null) await pressSubmit(hands, answer.submit);
      else await takeChoice(hands, answer.choice, answer.submit);
    },
    signal,
  );
  const seen = await readAfterEntering(deps, target, input.sessionId, answered(answer), signal);
  const typed = values.map(({ text }) => text);
  const reading = await markHeld(deps, input, withoutTyped(seen, answer.entries, typed));
  await deps.store.typingLedger.advance(flowId, entryId, 'observed');
  const now = await deps.pages.of(target.projectId, input.sessionId);
  return { reading, credential: await credentialFactsFor(deps, target, now, reading.fields), keptId };
}

function answered({ entries, choice }: EnterInput['answer']): Answered {
  if (entries.length > 0 || choice?.type === 'other') return 'login';
  return choice?.type === 'sso_provider' || choice?.type === 'account' ? 'who' : 'way';
}

/** The workflow has given this run up (a stall of seconds is enough): it may have asked the person again by now. */
function refuseWhenLate(signal: AbortSignal): void {
  if (signal.aborted) throw abandoned();
}

function abandoned(): Error {
  return failure('entry_uncertain', 'this entering was given up; its outcome is read from the page', true);
}

/** One value to type. `owner`: whom a stored one belongs to; null for what a person has just given for this very field. */
interface OpenedValue {
  entry: FieldEntry;
  text: string;
  owner: ValueOwner | null;
}

/** Values in the order of the entries. */
async function openValues(deps: LoginDeps, input: EnterInput, signal: AbortSignal): Promise<OpenedValue[]> {
  const submission = input.submissionId === null ? null : await deps.store.submissions.open(input.submissionId);
  if (input.submissionId !== null && submission === null)
    throw failure('submission_gone', 'the submitted values are gone; they are asked for again', true);
  const needsCredential = input.answer.entries.some(({ source }) => source.kind !== 'submission');
  const credential =
    needsCredential && input.credentialId !== null ? await openAttached(deps, input.target, input.credentialId) : null;
  const values: OpenedValue[] = [];
  for (const entry of input.answer.entries) {
    const text = await textOf(entry);
    if (text === undefined) throw failure('submission_gone', 'a value to type is gone; it is asked for again', true);
    values.push({ entry, text, owner: credential === null ? null : ownerFor(entry, credential) });
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
        return await nextTotpCode(deps.store, input.credentialId, credential.totpSecret, signal);
    }
  }
}

function ownerFor({ source }: FieldEntry, credential: CredentialOwner): ValueOwner | null {
  switch (source.kind) {
    case 'submission':
      return null;
    case 'credential':
      return ownerOf(credential, source.key);
    case 'totp':
      return ownerOf(credential, TOTP_SECRET);
  }
}

/** Under this name the values of an entering are kept: who follows a lost worker finds them by it. */
export function keptUnder(flowId: string, entryId: string): string {
  return `kept:${flowId}:${entryId}`;
}

/** Seals what a person gave and where it was typed, without one-time codes, until the login proves good. */
async function keepForLater(
  deps: LoginDeps,
  input: EnterInput,
  values: OpenedValue[],
  origins: string[],
): Promise<string | null> {
  const fresh: TypedValue[] = [];
  for (const [index, { entry, text }] of values.entries()) {
    const isLasting = entry.source.kind === 'submission' && !ONE_TIME.has(entry.field.type);
    if (isLasting) fresh.push({ ref: entry.ref, origin: origins[index] ?? '', text });
  }
  if (fresh.length === 0) return input.keptId;
  const earlier = input.keptId === null ? null : await deps.store.submissions.open(input.keptId);
  const replaced = new Set(fresh.map(({ ref }) => ref));
  const { submissionId } = await deps.store.submissions.seal({
    connectionId: input.target.connectionId,
    interactionId: keptUnder(input.flowId, input.entryId),
    values: packTyped([...unpackTyped(earlier?.values ?? {}).filter(({ ref }) => !replaced.has(ref)), ...fresh]),
    expiresAt: new Date(input.keepUntil),
    withoutCodes: true,
  });
  if (input.keptId !== null && input.keptId !== submissionId) await deps.store.submissions.destroy(input.keptId);
  return submissionId;
}

/**
 * Refuses a field on a site that may not be typed into, or not with this value; answers the origin of the document that
 * holds the field, as the browser has it at this moment.
 */
async function refuseWrongSite(
  deps: LoginDeps,
  page: Page,
  { entry, owner }: OpenedValue,
  target: LoginTarget,
): Promise<string> {
  const url = authorUrl(await frameOf(page, entry.field));
  const isAllowed = mayTypeInto(url, target, deps.egress) && mayTypeInto(page.url(), target, deps.egress);
  if (!isAllowed || (owner !== null && !mayTypeStored(url, owner, target, deps.egress)))
    throw failure('domain_not_allowed', 'a field of the login form sits on a site that is not allowed', true);
  return new URL(url).origin;
}
