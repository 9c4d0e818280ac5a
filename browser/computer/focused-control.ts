import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { FocusedControl, PICKED_INPUTS, type Pick } from '../../contract/screencast.ts';
import { inTime } from '../../contract/in-time.ts';
import type { Session } from '../session/session.ts';
import { evaluateInIsolatedWorld } from './isolated-world.ts';
import { inputTarget } from './input.ts';

/** Longest list that is told, and longest text of it. */
const MAX_OPTIONS = 500;
const MAX_TEXT = 200;

/** Finds what has the keyboard, through shadow roots and frames of the same site. */
const FIND = `
  let at = document.activeElement;
  for (let inner = at; inner; ) {
    at = inner;
    inner = at.shadowRoot?.activeElement ?? (/^I?FRAME$/.test(at.tagName) ? at.contentDocument?.activeElement : null);
  }
  const isList = at?.tagName === 'SELECT' && !at.multiple && at.size < 2;
  const picked = ${JSON.stringify(PICKED_INPUTS)};
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
  // A label around a list holds the list's own words, too.
  for (const inner of named?.querySelectorAll('select, textarea, script, style') ?? []) inner.remove();
  const label = cut(named?.textContent) || cut(at.getAttribute('aria-label') || at.placeholder);
  if (at.disabled) return { kind: 'none' };
  if (isList) {
    const told = options.map((option) => ({ label: cut(option.label), disabled: isDisabled(option) }));
    return { kind: 'list', label, options: told, chosen: at.selectedIndex };
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

/** True where it was chosen. A picker of the browser's own that the click opened closes with it: it would take the next keys. */
const pickOf = (value: string): string => `(() => {
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

/** A frame that does not answer within this time, in milliseconds, has nobody's keyboard. */
const ANSWER_WITHIN_MS = 5000;
/** While the keyboard goes from one site's frame to another's, both have it, or none: how often, and after how long, to look again. */
const LOOKS = 10;
const LOOK_EVERY_MS = 50;

/** What has the keyboard in the page in use. Throws `operation_failed` when no page takes input. */
export async function readFocusedControl(session: Session): Promise<FocusedControl> {
  return (await findHolder(session))?.focus ?? { kind: 'none' };
}

/** Chooses in the list or picker that has the keyboard, with the events that a person's choice makes. */
export async function pickInFocusedControl(session: Session, { value }: Pick): Promise<void> {
  const holder = await findHolder(session);
  const chosen = holder === null ? false : await ask(session, holder.sessionId, pickOf(value));
  if (chosen === true) return;
  throw new HoldfastError(
    'operation_failed',
    'value: fits nothing that has the keyboard; click the list or date first',
  );
}

interface Holder {
  /** The session on the document: the page's, or that of a frame of another site. */
  sessionId: string;
  focus: FocusedControl;
}

async function findHolder(session: Session): Promise<Holder | null> {
  const { page } = inputTarget(session);
  for (let look = 1; ; look += 1) {
    const answers = await Promise.all(
      [page.sessionId, ...page.frameSessions].map(async (sessionId) => ({
        sessionId,
        answer: await ask(session, sessionId, READ),
      })),
    );
    const holders = answers.flatMap(({ sessionId, answer }): Holder[] => {
      const focus = FocusedControl.safeParse(answer);
      return focus.success ? [{ sessionId, focus: focus.data }] : [];
    });
    const [first = null, ...others] = holders.filter(({ focus }) => focus.kind !== 'none');
    const isOnItsWay = first === null && answers.some(({ answer }) => answer === 'frame');
    if ((others.length === 0 && !isOnItsWay) || look === LOOKS) return first;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Null where the document goes meanwhile, or does not answer. */
function ask(session: Session, sessionId: string, expression: string): Promise<unknown> {
  return inTime(
    evaluateInIsolatedWorld(session.chromium.cdp, sessionId, expression).catch(() => null),
    ANSWER_WITHIN_MS,
    null,
  );
}
