import type { z } from 'zod';
import { assertNever } from '../../contract/assert-never.ts';
import { batch, focusedControl, openScreencast, pickInFocusedControl } from '../../browser-client/computer.ts';
import { BrowserServiceError } from '../../browser-client/errors.ts';
import type { SessionTarget } from '../../browser-client/sessions.ts';
import type { ComputerAction } from '../../contract/computer.ts';
import { expireOverdue, type ConnectionDocument } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { exchangeCode } from './login.ts';
import { recordedStates } from './events.ts';
import { submitAnswer } from './submit.ts';
import type { InputAction, HostedPageDeps, HostedSession, HostedState } from '../hosted/deps.ts';
import type { ApiParts } from '../parts.ts';

/** Gives the hosted page access to one flow, under the rules of the API. */
export function createHostedPageDeps(parts: ApiParts): HostedPageDeps {
  function stateOf({ revision, document }: { revision: number; document: ConnectionDocument }): HostedState {
    return {
      flowId: document.flow?.flow_id ?? null,
      revision,
      connection: parts.views.present(document, false),
      formNotice: document.flow?.interaction?.form_notice ?? null,
      pictures: document.flow?.interaction?.pictures ?? {},
      actsOnPage: document.flow?.interaction?.acts_on_page === true,
    };
  }

  /** The browser session of a flow that waits for a person to act on the page. */
  async function pageOf({ connectionId, flowId }: Omit<HostedSession, 'expiresAt'>): Promise<SessionTarget> {
    const row = await parts.store.connections.byIdUnscoped(connectionId);
    const running = row?.document.flow ?? null;
    const flow = running === null ? null : expireOverdue(running, parts.clock());
    const isOpen = flow?.flow_id === flowId && flow.flow_status === 'IN_PROGRESS';
    const sessionId = flow?.browser_session_id ?? null;
    if (row === null || !isOpen || flow.interaction?.acts_on_page !== true || sessionId === null)
      throw new HoldfastError('not_found', 'The login is not waiting for an action on the page; reload');
    return { projectId: row.document.project_id, sessionId };
  }

  return {
    publicUrl: parts.settings.publicUrl,
    allowedOrigins: parts.settings.allowedOrigins ?? [],
    async exchange(connectionId, code) {
      const { jwt, flowId } = await exchangeCode(parts, connectionId, code);
      return { jwt, flowId };
    },
    verify: (jwt) => parts.hostedTokens.verify(jwt),
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
      for (const step of toSteps(actions)) {
        if (step.pick === null) await batch(parts.browserService, page, { actions: step.actions });
        else await pick(page, step.pick);
      }
      const mayMoveFocus = actions.some(({ do: what }) => what === 'up' || what === 'key' || what === 'pick');
      return mayMoveFocus ? await focusedControl(parts.browserService, page) : null;
    },
  };

  /** Ignores a value that the focused control no longer offers: the person sees the list that replaced it. */
  async function pick(page: SessionTarget, value: string): Promise<void> {
    await pickInFocusedControl(parts.browserService, page, { value }).catch((error: unknown) => {
      if (!(error instanceof BrowserServiceError) || error.code !== 'browser_error') throw error;
    });
  }
}

type ComputerInput = z.input<typeof ComputerAction>;

/** Groups input into batches, in order: a pick applies to the control that has focus before the actions that follow it. */
function toSteps(actions: readonly InputAction[]): ({ pick: string } | { pick: null; actions: ComputerInput[] })[] {
  const steps: ReturnType<typeof toSteps> = [];
  for (const action of actions) {
    const last = steps.at(-1);
    if (action.do === 'pick') steps.push({ pick: action.value });
    else if (last?.pick === null) last.actions.push(...computerActions(action));
    else steps.push({ pick: null, actions: computerActions(action) });
  }
  return steps;
}

/** Translates input from the hosted page into actions of the computer endpoints. */
function computerActions(action: Exclude<InputAction, { do: 'pick' }>): ComputerInput[] {
  const input = computerInput(action);
  return action.after_ms === 0 ? [input] : [{ type: 'sleep', sleep: { duration_ms: action.after_ms } }, input];
}

function computerInput(action: Exclude<InputAction, { do: 'pick' }>): ComputerInput {
  switch (action.do) {
    case 'down':
    case 'up':
      return { type: 'click_mouse', click_mouse: { x: action.x, y: action.y, click_type: action.do } };
    case 'move':
      return { type: 'move_mouse', move_mouse: { x: action.x, y: action.y, smooth: false } };
    case 'wheel':
      return { type: 'scroll', scroll: { x: action.x, y: action.y, delta_y: action.notches } };
    case 'type':
      return { type: 'type_text', type_text: { text: action.text } };
    case 'key':
      return { type: 'press_key', press_key: { keys: [action.key] } };
    default:
      return assertNever(action);
  }
}
