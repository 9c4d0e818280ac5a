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

/** A one-time code, a sign-in link, or both, found in a message. */
export interface FoundCode {
  code: string | null;
  link: string | null;
}

/** Codes and links for flows in progress: sealed like a person's submissions, used once, and expired after minutes. */
export interface CodeInbox {
  /** Stores a code or link for a connection's flow in progress, and delivers it if the flow is waiting for it. False if there is no flow. */
  take(document: ConnectionDocument, found: FoundCode): Promise<boolean>;
  /** Delivers every pending code or link whose flow is now waiting for it. */
  deliverAll(): Promise<void>;
}

/** Creates the inbox. Codes are in the store, so one process may take a code and another deliver it. */
export function createCodeInbox({ store, connections, clock }: CodeInboxDeps): CodeInbox {
  const { submissions } = store;

  async function deliver(connectionId: string): Promise<void> {
    const row = await store.connections.byIdUnscoped(connectionId);
    const flow = row === null ? null : activeFlow(row.document, clock());
    const pendingId = flow === null ? null : await submissions.find(connectionId, inboxKey(flow.flow_id));
    if (flow === null || flow.interaction === null || pendingId === null) return;
    const answer = answerFor(flow.interaction, (await submissions.open(pendingId))?.values ?? {});
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
      await submissions.destroy(pendingId);
    } catch (error) {
      // The flow has moved on: the code stays pending for its next step. Other failures are retried with the sealed submission.
      if (error instanceof HoldfastError && error.status < 429 && !sealed.duplicate)
        await submissions.discard(sealed.submissionId);
    }
  }

  return {
    take: async (document, { code, link }) => {
      const flow = activeFlow(document, clock());
      if (flow === null) return false;
      const expiresAt = new Date(clock().getTime() + CODE_WAIT_MS);
      const interactionId = inboxKey(flow.flow_id);
      const previous = await submissions.find(document.id, interactionId);
      // A newer code replaces the previous one; a message without a code keeps it.
      const previousValues = previous === null ? {} : ((await submissions.open(previous))?.values ?? {});
      const values = {
        ...previousValues,
        ...(code === null ? {} : { [CODE]: code }),
        ...(link === null ? {} : { [MAILED_LINK]: link }),
      };
      const sealed = await submissions.seal({ connectionId: document.id, interactionId, values, expiresAt });
      if (previous !== null && previous !== sealed.submissionId) await submissions.destroy(previous);
      await deliver(document.id);
      return true;
    },
    deliverAll: async () => {
      for (const connectionId of await submissions.connectionsWithPending(INBOX_PREFIX)) await deliver(connectionId);
    },
  };
}

const CODE = 'code';
/** Prefix of the interaction ids of pending codes, which no real interaction has. */
const INBOX_PREFIX = 'codes:';

/** Codes belong to the flow in progress when they arrive, not to the next one. */
function inboxKey(flowId: string): string {
  return `${INBOX_PREFIX}${flowId}`;
}

function activeFlow({ flow }: ConnectionDocument, now: Date): FlowState | null {
  const current = flow === null ? null : expireOverdue(flow, now);
  return current?.flow_status === 'IN_PROGRESS' ? current : null;
}

/** The field and value that answer an interaction, or null. A code takes precedence over a link. */
function answerFor(
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
