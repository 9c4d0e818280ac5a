import type { ConnectionsClient } from '../client/connections-client.ts';
import { MAILED_LINK } from '../contract/answer-check.ts';
import { asksForCode } from '../contract/code-fields.ts';
import { expireOverdue, type ConnectionDocument, type FlowState } from '../contract/document.ts';
import { HoldfastError } from '../contract/errors.ts';
import type { Interaction } from '../contract/interaction.ts';
import { CODE_WAIT_MS } from '../contract/limits.ts';
import type { Store } from '../store/store.ts';

/** What {@link createCodeInbox} needs. */
export interface CodeInboxDeps {
  store: { connections: Pick<Store['connections'], 'byIdUnscoped'> } & Pick<Store, 'submissions'>;
  connections: Pick<ConnectionsClient, 'submit'>;
  clock: () => Date;
}

/** What a message holds for a login: a one-time code, a link that signs in, or both. */
export interface Found {
  code: string | null;
  link: string | null;
}

/** Codes and links on their way to the flows that wait for them: sealed like what a person submits, used once, gone after minutes. */
export interface CodeInbox {
  /** Takes what was found for the flow in progress of a connection: at once where it is waited for, else it waits. False without a flow. */
  take(document: ConnectionDocument, found: Found): Promise<boolean>;
  /** Brings everything that waits to its flow, where that has come to its step by now. */
  deliverAll(): Promise<void>;
}

/** Makes the inbox. Any process may take a code, and any may deliver it: it lies in the store between the two. */
export function createCodeInbox({ store, connections, clock }: CodeInboxDeps): CodeInbox {
  const { submissions } = store;

  async function deliver(connectionId: string): Promise<void> {
    const row = await store.connections.byIdUnscoped(connectionId);
    const flow = row === null ? null : flowInProgress(row.document, clock());
    const waitingId = flow === null ? null : await submissions.find(connectionId, inboxOf(flow.flow_id));
    if (flow === null || flow.interaction === null || waitingId === null) return;
    const answer = answerTo(flow.interaction, (await submissions.open(waitingId))?.values ?? {});
    if (answer === null) return;
    const interactionId = flow.interaction.interaction_id;
    const sealed = await submissions.seal({
      connectionId,
      interactionId,
      values: { [answer.fieldId]: answer.value },
      expiresAt: new Date(flow.flow_expires_at),
    });
    try {
      await connections.submit(connectionId, {
        submissionId: sealed.submissionId,
        interactionId,
        fieldIds: [answer.fieldId],
        selectedChoiceId: null,
      });
      await submissions.destroy(waitingId);
    } catch (error) {
      // The flow has gone on meanwhile: the code waits for what comes next. What is no refusal is tried again, as it is.
      if (error instanceof HoldfastError && error.status < 429 && !sealed.duplicate)
        await submissions.discard(sealed.submissionId);
    }
  }

  return {
    take: async (document, { code, link }) => {
      const flow = flowInProgress(document, clock());
      if (flow === null) return false;
      const expiresAt = new Date(clock().getTime() + CODE_WAIT_MS);
      const interactionId = inboxOf(flow.flow_id);
      const former = await submissions.find(document.id, interactionId);
      // A newer code is the one that the site takes; a mail that has none leaves it where it is.
      const kept = former === null ? {} : ((await submissions.open(former))?.values ?? {});
      const values = {
        ...kept,
        ...(code === null ? {} : { [CODE]: code }),
        ...(link === null ? {} : { [MAILED_LINK]: link }),
      };
      const sealed = await submissions.seal({ connectionId: document.id, interactionId, values, expiresAt });
      if (former !== null && former !== sealed.submissionId) await submissions.destroy(former);
      await deliver(document.id);
      return true;
    },
    deliverAll: async () => {
      for (const connectionId of await submissions.connectionsWithPending(INBOX)) await deliver(connectionId);
    },
  };
}

const CODE = 'code';
/** Under names that begin so lie codes that wait. No interaction has one. */
const INBOX = 'codes:';

/** Codes belong to the flow that is in progress when they come: none is left for the next one. */
function inboxOf(flowId: string): string {
  return `${INBOX}${flowId}`;
}

function flowInProgress({ flow }: ConnectionDocument, now: Date): FlowState | null {
  const current = flow === null ? null : expireOverdue(flow, now);
  return current?.flow_status === 'IN_PROGRESS' ? current : null;
}

/** What of a message answers an interaction, and under which id; null where nothing does. A code goes before a link. */
function answerTo(
  { fields, takes_link: takesLink }: Interaction,
  values: Readonly<Record<string, string>>,
): { fieldId: string; value: string } | null {
  const codes = fields.filter(({ type }) => asksForCode(type));
  const [only, ...others] = codes;
  const needsMore = fields.some((field) => field.required !== false && !codes.includes(field));
  const { [CODE]: code, [MAILED_LINK]: link } = values;
  if (needsMore || others.length > 0) return null;
  if (only !== undefined && code !== undefined) return { fieldId: only.id, value: code };
  return takesLink === true && link !== undefined ? { fieldId: MAILED_LINK, value: link } : null;
}
