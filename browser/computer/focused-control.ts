import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { FocusedControl, PICKER_INPUTS, type PickedValue } from '../../contract/screencast.ts';
import { withTimeout } from '../../contract/with-timeout.ts';
import type { Session } from '../session/session.ts';
import { evaluateInIsolatedWorld } from './isolated-world.ts';
import { inputTarget } from './input.ts';

/** Most options of a list, and longest text, that are returned. */
const MAX_OPTIONS = 500;
const MAX_TEXT = 200;

/** Finds the focused element, through shadow roots and same-site frames. */
const FIND = `
  let at = document.activeElement;
  for (let inner = at; inner; ) {
    at = inner;
    inner = at.shadowRoot?.activeElement ?? (/^I?FRAME$/.test(at.tagName) ? at.contentDocument?.activeElement : null);
  }
  const isList = at?.tagName === 'SELECT' && !at.multiple && at.size < 2;
  const picked = ${JSON.stringify(PICKER_INPUTS)};
  const isPicker = at?.tagName === 'INPUT' && picked.includes(at.type);
  const options = isList ? [...at.options].slice(0, ${String(MAX_OPTIONS)}) : [];
  const isDisabled = (option) => option.disabled || option.parentNode.disabled === true;
`;

const READ = `(() => {
  ${FIND}
  if (!at || (window !== top && !document.hasFocus())) return { kind: 'none' };
  if (/^I?FRAME$/.test(at.tagName)) return 'frame';
  const cut = (text) => (text ?? '').replace(/\\s+/g, ' ').trim().slice(0, ${String(MAX_TEXT)});
  const named = at.labels?.[0]?.cloneNode(true);
  // A label around a list also contains the list's texts.
  for (const inner of named?.querySelectorAll('select, textarea, script, style') ?? []) inner.remove();
  const label = cut(named?.textContent) || cut(at.getAttribute('aria-label') || at.placeholder);
  if (at.disabled) return { kind: 'none' };
  if (isList) {
    const listed = options.map((option) => ({ label: cut(option.label), disabled: isDisabled(option) }));
    return { kind: 'list', label, options: listed, chosen: at.selectedIndex };
  }
  if (at.readOnly) return { kind: 'none' };
  const { type, value, min, max, step, inputMode } = at;
  if (isPicker) return { kind: 'picker', label, input: type, value, min, max, step };
  const typed = { text: 'text', search: 'search', email: 'email', tel: 'tel', url: 'url', number: 'decimal', password: 'text' };
  const isText = at.tagName === 'TEXTAREA' || at.isContentEditable || (at.tagName === 'INPUT' && Object.hasOwn(typed, type));
  if (!isText) return { kind: 'none' };
  const keyboards = ['text', 'email', 'tel', 'url', 'numeric', 'decimal', 'search'];
  const keyboard = keyboards.includes(inputMode) ? inputMode : at.tagName === 'INPUT' ? typed[type] : 'text';
  return { kind: 'text', label, secret: type === 'password', keyboard };
})()`;

/** True if chosen. Refocusing closes a picker that the click opened and that would capture the next keys. */
const pickExpression = (value: string): string => `(() => {
  ${FIND}
  const wanted = ${JSON.stringify(value)};
  if (!at || at.disabled || at.readOnly) return false;
  if (isList) {
    const option = /^\\d+$/.test(wanted) ? options[Number(wanted)] : undefined;
    if (!option || isDisabled(option)) return false;
    at.selectedIndex = Number(wanted);
  } else if (isPicker) {
    const before = at.value;
    at.value = wanted;
    if (at.value === '' && wanted !== '') {
      at.value = before;
      return false;
    }
  } else return false;
  at.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  at.dispatchEvent(new Event('change', { bubbles: true }));
  if (at.isConnected) {
    at.blur();
    at.focus();
  }
  return true;
})()`;

/** A frame that does not respond within this time, in milliseconds, counts as unfocused. */
const RESPONSE_TIMEOUT_MS = 5000;
/** While the focus moves between frames of different sites, both or neither have it: how often to retry, and the interval. */
const MAX_ATTEMPTS = 10;
const RETRY_MS = 50;

/** Describes the focused control of the active page. Throws `operation_failed` if no page accepts input. */
export async function readFocusedControl(session: Session): Promise<FocusedControl> {
  return (await findFocused(session))?.focus ?? { kind: 'none' };
}

/** Chooses in the focused list or picker, with the events of a user's choice. */
export async function pickInFocusedControl(session: Session, { value }: PickedValue): Promise<void> {
  const focused = await findFocused(session);
  if (focused !== null && (await evaluate(session, focused.sessionId, pickExpression(value))) === true) return;
  throw new HoldfastError('operation_failed', 'value: does not fit the focused control; click the list or date first');
}

interface Focused {
  /** CDP session of the page, or of a frame of another site. */
  sessionId: string;
  focus: FocusedControl;
}

async function findFocused(session: Session): Promise<Focused | null> {
  const { page } = inputTarget(session);
  for (let attempt = 1; ; attempt += 1) {
    const answers = await Promise.all(
      [page.sessionId, ...page.frameSessions].map(async (sessionId) => ({
        sessionId,
        answer: await evaluate(session, sessionId, READ),
      })),
    );
    const focused = answers.flatMap(({ sessionId, answer }): Focused[] => {
      const focus = FocusedControl.safeParse(answer);
      return focus.success ? [{ sessionId, focus: focus.data }] : [];
    });
    const [first = null, ...others] = focused.filter(({ focus }) => focus.kind !== 'none');
    const isMoving = first === null && answers.some(({ answer }) => answer === 'frame');
    if ((others.length === 0 && !isMoving) || attempt === MAX_ATTEMPTS) return first;
    await sleep(RETRY_MS);
  }
}

/** Null if the document goes away or does not respond. */
function evaluate(session: Session, sessionId: string, expression: string): Promise<unknown> {
  return withTimeout(
    evaluateInIsolatedWorld(session.chromium.cdp, sessionId, expression).catch(() => null),
    RESPONSE_TIMEOUT_MS,
    null,
  );
}
