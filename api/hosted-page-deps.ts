import type { z } from 'zod';
import { assertNever } from '../contract/assert-never.ts';
import { batch, focusedControl, openScreencast, pickInFocusedControl } from '../browser-client/computer.ts';
import { BrowserServiceError } from '../browser-client/errors.ts';
import type { SessionTarget } from '../browser-client/sessions.ts';
import type { ComputerAction } from '../contract/computer.ts';
import { expireOverdue, type ConnectionDocument } from '../contract/document.ts';
import { HoldfastError } from '../contract/errors.ts';
import { exchangeCode } from './auth-connections/login.ts';
import { recordedStates } from './auth-connections/recorded-states.ts';
import { submitAnswer } from './auth-connections/submit.ts';
import type { InputAction, HostedPageDeps, HostedSession, HostedState } from './hosted/deps.ts';
import type { ApiParts } from './parts.ts';

/** Gives the hosted page its view of the API: the same rules, the same store, one person's flow. */
export function createHostedPageDeps(parts: ApiParts): HostedPageDeps {
  function stateOf({ revision, document }: { revision: number; document: ConnectionDocument }): HostedState {
    return {
      flowId: document.flow?.flow_id ?? null,
      revision,
      connection: parts.answers.present(document, false),
      formNotice: document.flow?.interaction?.form_notice ?? null,
      actsOnPage: document.flow?.interaction?.acts_on_page === true,
    };
  }

  /** The browser session of a flow that waits for its person to act on the page. */
  async function pageOf({ connectionId, flowId }: Omit<HostedSession, 'expiresAt'>): Promise<SessionTarget> {
    const row = await parts.store.connections.byIdUnscoped(connectionId);
    const running = row?.document.flow ?? null;
    const flow = running === null ? null : expireOverdue(running, parts.clock());
    const isOpen = flow?.flow_id === flowId && flow.flow_status === 'IN_PROGRESS';
    const sessionId = flow?.browser_session_id ?? null;
    if (row === null || !isOpen || flow.interaction?.acts_on_page !== true || sessionId === null)
      throw new HoldfastError('not_found', 'The sign-in does not wait for an action on the page; reload');
    return { projectId: row.document.project_id, sessionId };
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
    async screencast(session, signal) {
      return await openScreencast(parts.browserService, await pageOf(session), signal);
    },
    async sendInput(session, actions) {
      const page = await pageOf(session);
      for (const part of inOrder(actions)) {
        if (part.pick === null) await batch(parts.browserService, page, { actions: part.actions });
        else await pick(page, part.pick);
      }
      const mayMoveFocus = actions.some(({ do: what }) => what === 'up' || what === 'key' || what === 'pick');
      return mayMoveFocus ? await focusedControl(parts.browserService, page) : null;
    },
  };

  /** What does not fit any more is no fault: the list is another one by now, and the person is shown that. */
  async function pick(page: SessionTarget, value: string): Promise<void> {
    await pickInFocusedControl(parts.browserService, page, { value }).catch((error: unknown) => {
      if (!(error instanceof BrowserServiceError) || error.code !== 'browser_error') throw error;
    });
  }
}

type ComputerInput = z.input<typeof ComputerAction>;

/**
 * What one call does, in its order: a choice fits what has the keyboard before the press that follows it, so no action of a
 * hand goes before a choice that was made first.
 */
function inOrder(actions: readonly InputAction[]): ({ pick: string } | { pick: null; actions: ComputerInput[] })[] {
  const parts: ReturnType<typeof inOrder> = [];
  for (const action of actions) {
    const last = parts.at(-1);
    if (action.do === 'pick') parts.push({ pick: action.value });
    else if (last?.pick === null) last.actions.push(...computerActions(action));
    else parts.push({ pick: null, actions: computerActions(action) });
  }
  return parts;
}

/** What a hand did, as actions of the computer endpoints. */
function computerActions(action: Exclude<InputAction, { do: 'pick' }>): ComputerInput[] {
  const pause: ComputerInput[] =
    action.after_ms === 0 ? [] : [{ type: 'sleep', sleep: { duration_ms: action.after_ms } }];
  switch (action.do) {
    case 'down':
    case 'up': {
      const { x, y, do: click_type } = action;
      return [...pause, { type: 'click_mouse', click_mouse: { x, y, click_type } }];
    }
    case 'move':
      return [...pause, { type: 'move_mouse', move_mouse: { x: action.x, y: action.y, smooth: false } }];
    case 'wheel':
      return [...pause, { type: 'scroll', scroll: { x: action.x, y: action.y, delta_y: action.notches } }];
    case 'type':
      return [...pause, { type: 'type_text', type_text: { text: action.text } }];
    case 'key':
      return [...pause, { type: 'press_key', press_key: { keys: [action.key] } }];
    default:
      return assertNever(action);
  }
}
