import { randomBytes } from 'node:crypto';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, ConnectionSettings, FlowState } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { Store } from '../../store/store.ts';

/** Stands in for the workflows: the same promises, one process, no Temporal. Tests drive its flows by hand. */
export interface FakeConnections extends ConnectionsClient {
  /** How often each message was sent. */
  calls: { create: number; submit: number; applied: number; credentialChanged: number };
  /** Moves the current flow on and records it. */
  moveFlow(id: string, change: Partial<FlowState>): Promise<ConnectionDocument>;
  /** Changes the document in any way and records it. */
  change(id: string, change: Partial<ConnectionDocument>, timeline?: TimelineEvent[]): Promise<ConnectionDocument>;
  /** Every message fails with this until it is null again. */
  failWith: HoldfastError | null;
  /** A check does not end while somebody waits for it. */
  checkIsSlow: boolean;
}

/** A pause that asks for a user and a password and offers three choices. */
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
  const documents = new Map<string, ConnectionDocument>();
  const places = new Map<string, Promise<ConnectionDocument>>();
  const applied = new Set<string>();
  const calls = { create: 0, submit: 0, applied: 0, credentialChanged: 0 };

  function get(id: string): ConnectionDocument {
    if (fake.failWith !== null) throw fake.failWith;
    const document = documents.get(id);
    if (document === undefined) throw new HoldfastError('not_found', 'No such connection.');
    return document;
  }

  async function record(document: ConnectionDocument, timeline: TimelineEvent[] = []): Promise<ConnectionDocument> {
    const next = { ...document, revision: document.revision + 1 };
    documents.set(next.id, next);
    const { id, revision } = next;
    await store().connections.record({ id, revision, document: next, timeline, createdAt: clock() });
    return next;
  }

  async function insert(seed: Parameters<ConnectionsClient['create']>[0]): Promise<ConnectionDocument> {
    const document = newDocument(seed, clock());
    documents.set(document.id, document);
    const { outcome } = await store().connections.insert({
      id: document.id,
      organizationId: seed.organizationId,
      projectId: seed.projectId,
      profileName: seed.settings.profile_name,
      domain: seed.settings.domain,
      document,
      revision: document.revision,
      createdAt: clock(),
    });
    if (outcome !== 'inserted') throw new Error('inserted twice');
    return document;
  }

  const accepted = (document: ConnectionDocument) => ({ revision: document.revision, document });

  const fake: FakeConnections = {
    calls,
    checkIsSlow: false,
    failWith: null,
    async create(seed) {
      calls.create += 1;
      if (fake.failWith !== null) throw fake.failWith;
      const place = JSON.stringify([seed.projectId, seed.settings.profile_name, seed.settings.domain]);
      const existing = places.get(place);
      if (existing !== undefined) return { outcome: 'exists', document: await existing };
      const made = insert(seed);
      places.set(place, made);
      return { outcome: 'created', document: await made };
    },
    async login(id) {
      const document = get(id);
      if (document.flow?.flow_status === 'IN_PROGRESS') throw new HoldfastError('flow_in_progress', 'One runs.');
      return accepted(await record({ ...document, flow: newFlow(clock()) }));
    },
    async submit(id, input) {
      calls.submit += 1;
      const document = get(id);
      if (input.submissionId !== null && applied.has(input.submissionId)) return accepted(document);
      const waiting = document.flow?.interaction;
      if (!document.flow || !waiting) throw new HoldfastError('not_awaiting_input', 'Nothing waits.');
      if (waiting.interaction_id !== input.interactionId) throw new HoldfastError('stale_interaction', 'Too late.');
      if (input.submissionId !== null) applied.add(input.submissionId);
      calls.applied += 1;
      const flow = { ...document.flow, interaction: null, flow_step: 'SUBMITTING' as const };
      return accepted(await record({ ...document, flow }));
    },
    submitBySignal: async () => undefined,
    async configure(id, changes) {
      const document = get(id);
      const settings = Object.fromEntries(
        Object.entries({ ...document.settings, ...changes }).filter(([, value]) => value !== null),
      ) as ConnectionSettings;
      return accepted(await record({ ...document, settings }));
    },
    async credentialChanged(id) {
      calls.credentialChanged += 1;
      return accepted(await record(get(id)));
    },
    async check(id) {
      if (fake.checkIsSlow) return null;
      return accepted(await record({ ...get(id), last_auth_check_at: clock().toISOString() }));
    },
    async remove(id) {
      const document = get(id);
      documents.delete(id);
      const { profile_name: profile, domain } = document.settings;
      places.delete(JSON.stringify([document.project_id, profile, domain]));
      const scope = { organizationId: document.organization_id, projectId: document.project_id };
      await store().connections.remove(scope, id);
    },
    revive: async () => false,
    read: async (id) => get(id),
    async *follow(id) {
      yield get(id);
    },
    async moveFlow(id, change) {
      const document = get(id);
      if (document.flow === null) throw new Error('no flow runs');
      return record({ ...document, flow: { ...document.flow, ...change } });
    },
    change: async (id, change, timeline) => record({ ...get(id), ...change }, timeline),
  };
  return fake;
}

function newDocument(seed: Parameters<ConnectionsClient['create']>[0], now: Date): ConnectionDocument {
  return {
    schema_version: 1,
    id: `conn_${randomBytes(12).toString('hex')}`,
    organization_id: seed.organizationId,
    project_id: seed.projectId,
    revision: 1,
    created_at: now.toISOString(),
    settings: seed.settings,
    status: 'NEEDS_AUTH',
    post_login_url: null,
    can_reauth: false,
    can_reauth_reason: 'no_prior_successful_login',
    last_auth_check_at: null,
    flow: null,
  };
}

function newFlow(now: Date): FlowState {
  return {
    flow_id: newId('flow'),
    flow_type: 'LOGIN',
    flow_status: 'IN_PROGRESS',
    flow_step: 'DISCOVERING',
    flow_expires_at: new Date(now.getTime() + 20 * 60_000).toISOString(),
    started_at: now.toISOString(),
    browser_session_id: 'brw_1',
    live_view_url: null,
    interaction: null,
    external_action_message: null,
    sso_provider: null,
    error_code: null,
    error_message: null,
    website_error: null,
  };
}
