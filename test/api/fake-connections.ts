import { randomBytes, randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import { connectionIdFor } from '../../client/identity.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, FlowState } from '../../contract/document.ts';
import { HoldfastError, isErrorCode } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { Store } from '../../store/store.ts';
import { patchFlow } from '../../workflows/connection/flows.ts';
import {
  accepted,
  applyLogin,
  applySettings,
  applySubmit,
  checkAddressed,
  checkLogin,
  checkSubmit,
} from '../../workflows/connection/requests.ts';
import { initialState, applyChange, type ConnectionState } from '../../workflows/connection/state.ts';
import type { Accepted } from '../../workflows/messages.ts';

/**
 * Replaces Temporal: the entity's own functions handle every message and record the result in the store, in process. Nothing runs
 * on its own: tests drive flows and health checks.
 */
export interface FakeConnections extends ConnectionsClient {
  /** Counts of submitted answers, of answers delivered to a flow, and of credential change notifications. */
  calls: { submit: number; applied: number; credentialChanged: number };
  /** Advances the current flow and records it. */
  moveFlow(id: string, change: Partial<FlowState>): Promise<Accepted>;
  /** Changes the document and records it. */
  change(id: string, change: Partial<ConnectionDocument>, timeline?: TimelineEvent[]): Promise<Accepted>;
  /** The error of every message, until reset to null. */
  failWith: HoldfastError | null;
  /** Keeps checks running for as long as callers wait. */
  checkIsSlow: boolean;
}

/** An interaction that asks for a username and a password and offers three choices. */
export function loginInteraction(id: string = newId('int')): Interaction {
  return {
    interaction_id: id,
    fields: [
      { id: 'fld_user', ref: 'username', type: 'identifier', reason: 'missing', label: 'E-mail', required: true },
      { id: 'fld_pass', ref: 'password', type: 'password', reason: 'missing', label: 'Password', required: true },
      { id: 'fld_note', ref: 'note', type: 'text', reason: 'missing', label: 'Note', required: false },
    ],
    choices: [
      { id: 'ch_google', type: 'sso_provider', label: 'Sign in with Google' },
      { id: 'ch_github', type: 'sso_provider', label: 'Sign in with GitHub' },
      { id: 'ch_sms', type: 'mfa_method', label: 'Text me', mfa_type: 'sms' },
      { id: 'ch_account', type: 'account', label: 'ann@example.com' },
    ],
    discovered_fields: [
      { name: 'email', type: 'email', label: 'E-mail', selector: '#email' },
      { name: 'pw', type: 'password', label: 'Password', selector: '#pw' },
      { name: 'note', type: 'text', label: 'Note', selector: '#note', required: false },
    ],
    mfa_options: [{ type: 'sms', label: 'Text me' }],
    pending_sso_buttons: [
      { selector: '//button[1]', provider: 'google', label: 'Sign in with Google' },
      { selector: '//button[2]', provider: 'github', label: 'Sign in with GitHub' },
    ],
    sign_in_options: [{ id: 'ch_account', label: 'ann@example.com' }],
  };
}

export function createFakeConnections(store: () => Store, clock: () => Date): FakeConnections {
  const entities = new Map<string, ConnectionState>();
  const identityKey = randomBytes(32);
  const calls = { submit: 0, applied: 0, credentialChanged: 0 };

  function entityOf(id: string): ConnectionState {
    if (fake.failWith !== null) throw fake.failWith;
    const state = entities.get(id);
    if (state === undefined) throw new HoldfastError('not_found', 'No such connection');
    return state;
  }

  /** Runs a change of the entity and records the result. */
  async function act(id: string, work: (state: ConnectionState) => void): Promise<Accepted> {
    const state = entityOf(id);
    try {
      work(state);
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || typeof error.type !== 'string' || !isErrorCode(error.type))
        throw error;
      throw new HoldfastError(error.type, error.message);
    }
    const { document, pendingTimeline } = state;
    const timeline = [...pendingTimeline.values()];
    pendingTimeline.clear();
    await store().connections.record({ id, revision: document.revision, document, timeline, createdAt: clock() });
    return accepted(state);
  }

  const fake: FakeConnections = {
    calls,
    checkIsSlow: false,
    failWith: null,
    async create({ organizationId, projectId, settings }) {
      if (fake.failWith !== null) throw fake.failWith;
      const { profile_name: profileName, domain } = settings;
      const id = connectionIdFor(identityKey, { projectId, profileName, domain });
      const seed = { id, organizationId, projectId, settings };
      const state = initialState({ schemaVersion: 2, begin: { how: 'new', seed } }, clock().toISOString());
      const { document } = state;
      const row = { id, organizationId, projectId, profileName, domain, document, revision: 1, createdAt: clock() };
      const inserted = await store().connections.insert(row);
      if (inserted.outcome === 'exists')
        return { outcome: 'exists', document: { ...document, id: inserted.existingId } };
      state.inserted = true;
      entities.set(id, state);
      return { outcome: 'created', document };
    },
    login: (connectionId, { loginId = randomUUID(), ...overrides } = {}) =>
      act(connectionId, (state) => {
        const request = { connectionId, loginId, ...overrides };
        checkLogin(state, request);
        applyLogin(state, request, () => newId('flow'));
      }),
    submit: (connectionId, input) => {
      calls.submit += 1;
      return act(connectionId, (state) => {
        const before = state.outbox.length;
        checkSubmit(state, { connectionId, ...input });
        applySubmit(state, { connectionId, ...input });
        calls.applied += state.outbox.length - before;
      });
    },
    submitBySignal: async () => undefined,
    configure: (connectionId, changes) =>
      act(connectionId, (state) => {
        checkAddressed(state, { connectionId });
        applySettings(state, { connectionId, changes });
      }),
    credentialChanged: (connectionId) => {
      calls.credentialChanged += 1;
      return act(connectionId, (state) => {
        applySettings(state, { connectionId, changes: {}, credentialChanged: true });
      });
    },
    check: (connectionId) =>
      fake.checkIsSlow
        ? Promise.resolve(null)
        : fake.change(connectionId, { last_auth_check_at: clock().toISOString() }),
    async remove(id) {
      const { document } = entityOf(id);
      entities.delete(id);
      const scope = { organizationId: document.organization_id, projectId: document.project_id };
      await store().connections.remove(scope, id);
    },
    revive: async () => false,
    read: async (id) => entityOf(id).document,
    async *follow(id) {
      yield entityOf(id).document;
    },
    moveFlow: (id, change) =>
      act(id, (state) => {
        const { flow } = state.document;
        if (flow === null) throw new Error('no flow runs');
        patchFlow(state, flow.flow_id, change);
      }),
    change: (id, change, timeline) =>
      act(id, (state) => {
        applyChange(state, change, timeline);
      }),
  };
  return fake;
}
