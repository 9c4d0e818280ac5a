import type { ConnectionDocument } from '../contract/document.ts';
import { HoldfastError } from '../contract/errors.ts';
import { exchangeCode } from './auth-connections/login.ts';
import { recordedStates } from './auth-connections/recorded-states.ts';
import { submitAnswer } from './auth-connections/submit.ts';
import type { HostedPageDeps, HostedState } from './hosted/deps.ts';
import type { ApiParts } from './parts.ts';

/** Gives the hosted page its view of the API: the same rules, the same store, one person's flow. */
export function createHostedPageDeps(parts: ApiParts): HostedPageDeps {
  function stateOf({ revision, document }: { revision: number; document: ConnectionDocument }): HostedState {
    return {
      flowId: document.flow?.flow_id ?? null,
      revision,
      connection: parts.answers.present(document, 'hosted'),
    };
  }

  return {
    publicUrl: parts.settings.publicUrl,
    allowedOrigins: parts.settings.allowedOrigins ?? [],
    async exchange(connectionId, code) {
      const { jwt, flowId } = await exchangeCode(parts, connectionId, code);
      return { jwt, flowId };
    },
    verify: (jwt) => parts.tokens.verify(jwt),
    async read(connectionId) {
      const row = await parts.store.connections.byIdUnscoped(connectionId);
      return row === null ? null : stateOf(row);
    },
    async *states(connectionId, request) {
      const row = await parts.store.connections.byIdUnscoped(connectionId);
      if (row === null) return;
      for await (const state of recordedStates(parts.store, row, request)) yield stateOf(state);
    },
    async submit(connectionId, body) {
      const row = await parts.store.connections.byIdUnscoped(connectionId);
      if (row === null) throw new HoldfastError('not_found', 'Connection not found; ask for a new link');
      await submitAnswer(parts, row, body);
    },
  };
}
