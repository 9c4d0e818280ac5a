import type { EnterInput, EnterOutcome, FieldEntry, LoginTarget } from '../../contract/activities.ts';
import type { Page } from 'playwright-core';
import { failure } from '../../browser-client/service.ts';
import { authorUrl, mayTypeInto } from './allowed-site.ts';
import { credentialFacts } from './credential-facts.ts';
import type { LoginDeps } from './deps.ts';
import { fillField, frameOf, pressSubmit, takeChoice, type Hands } from './fill.ts';
import { readAfterEntering } from './read-after-entering.ts';
import { untilAnswered } from './reaction.ts';
import { nextTotpCode } from './totp.ts';
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
  await refuseWrongSites(deps, page, answer.entries, target);
  const values = await openValues(deps, input, signal);
  const claimed = await deps.store.typingLedger.claim({
    connectionId: target.connectionId,
    flowId,
    interactionId: entryId,
    ...(input.submissionId === null ? {} : { submissionId: input.submissionId }),
  });
  if (!claimed)
    throw failure('entry_uncertain', 'this answer was entered before; its outcome is read from the page', true);
  const keptId = await keepForLater(deps, input, values);
  // From here on nobody needs the submission: what is kept for the credential is kept apart.
  if (input.submissionId !== null) await deps.store.submissions.destroy(input.submissionId);
  for (const [index, entry] of answer.entries.entries()) {
    await refuseWrongSites(deps, page, [entry], target);
    refuseWhenLate(signal);
    await fillField(hands, entry.field, values[index] ?? '');
  }
  if (!(await deps.store.typingLedger.advance(flowId, entryId, 'typed'))) throw abandoned();
  await untilAnswered(
    page,
    async () => {
      refuseWhenLate(signal);
      if (!(await deps.store.typingLedger.advance(flowId, entryId, 'pressed'))) throw abandoned();
      if (answer.choice === null) await pressSubmit(hands, answer.submit);
      else await takeChoice(hands, answer.choice, answer.submit);
    },
    signal,
  );
  const seen = await readAfterEntering(deps, target, input.sessionId, answersLogin(answer));
  const reading = withoutTyped(seen, answer.entries, values);
  await deps.store.typingLedger.advance(flowId, entryId, 'observed');
  return { reading, credential: await credentialFacts(deps.store, target, target.credentialName), keptId };
}

/** A choice among ways to sign in leads to a form; what was typed, or said to a question after it, leads inside. */
function answersLogin({ entries, choice }: EnterInput['answer']): boolean {
  return entries.length > 0 || choice?.type === 'other';
}

/** The workflow has given this run up (a stall of seconds is enough): it may have asked the person again by now. */
function refuseWhenLate(signal: AbortSignal): void {
  if (signal.aborted) throw abandoned();
}

function abandoned(): Error {
  return failure('entry_uncertain', 'this entering was given up; its outcome is read from the page', true);
}

/** Values in the order of the entries. */
async function openValues(deps: LoginDeps, input: EnterInput, signal: AbortSignal): Promise<string[]> {
  const submission = input.submissionId === null ? null : await deps.store.submissions.open(input.submissionId);
  if (input.submissionId !== null && submission === null)
    throw failure('submission_gone', 'the submitted values are gone; they are asked for again', true);
  const needsCredential = input.answer.entries.some(({ source }) => source.kind !== 'submission');
  const credential =
    needsCredential && input.credentialId !== null ? await deps.store.credentials.open(input.credentialId) : null;
  const values: string[] = [];
  for (const { source } of input.answer.entries) {
    const value = await valueOf();
    if (value === undefined) throw failure('submission_gone', 'a value to type is gone; it is asked for again', true);
    values.push(value);

    async function valueOf(): Promise<string | undefined> {
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
  return values;
}

/** Under this name the values of an entering are kept: who follows a lost worker finds them by it. */
export function keptUnder(flowId: string, entryId: string): string {
  return `kept:${flowId}:${entryId}`;
}

/** Seals what a person gave, without one-time codes, until the login proves good. */
async function keepForLater(deps: LoginDeps, input: EnterInput, values: string[]): Promise<string | null> {
  const fresh: Record<string, string> = {};
  for (const [index, { field, ref, source }] of input.answer.entries.entries()) {
    const value = values[index];
    if (source.kind === 'submission' && !ONE_TIME.has(field.type) && value !== undefined) fresh[ref] = value;
  }
  if (Object.keys(fresh).length === 0) return input.keptId;
  const earlier = input.keptId === null ? null : await deps.store.submissions.open(input.keptId);
  const { submissionId } = await deps.store.submissions.seal({
    connectionId: input.target.connectionId,
    interactionId: keptUnder(input.flowId, input.entryId),
    values: { ...earlier?.values, ...fresh },
    expiresAt: new Date(input.keepUntil),
    withoutCodes: true,
  });
  if (input.keptId !== null && input.keptId !== submissionId) await deps.store.submissions.destroy(input.keptId);
  return submissionId;
}

async function refuseWrongSites(
  deps: LoginDeps,
  page: Page,
  entries: FieldEntry[],
  target: LoginTarget,
): Promise<void> {
  for (const { field } of entries) {
    const frame = await frameOf(page, field);
    if (!mayTypeInto(authorUrl(frame), target, deps.egress) || !mayTypeInto(page.url(), target, deps.egress))
      throw failure('domain_not_allowed', 'a field of the login form sits on a site that is not allowed', true);
  }
}
