import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_CLIPBOARD_TEXT } from '../../contract/computer.ts';
import type { CdpConnection } from '../cdp/connection.ts';
import { withInternalPage } from '../chromium/internal-page.ts';
import type { Session } from '../session/session.ts';
import { toHoldfastError } from './errors.ts';
import { settleInput } from './settle.ts';

/**
 * A field to copy from and paste into. Its own listeners give and take the text as it is: the field itself would change
 * line breaks. What was pasted comes back cut, so that a page cannot make us read any amount.
 */
const FIELD = `
  document.body.innerHTML = '<textarea>.</textarea>';
  const field = document.querySelector('textarea');
  field.focus();
  field.select();
  globalThis.pasted = '';
  document.onpaste = (event) => {
    event.preventDefault();
    globalThis.pasted = event.clipboardData.getData('text/plain').slice(0, ${String(MAX_CLIPBOARD_TEXT + 1)});
  };
  document.oncopy = (event) => {
    event.preventDefault();
    event.clipboardData.setData('text/plain', globalThis.copied);
  };`;

/** A hidden page of our own, on which nothing but the clipboard commands of the browser is used. */
interface ClipboardPage {
  copy(text: string): Promise<void>;
  paste(): Promise<string>;
}

/** The text on the session's clipboard; empty when there is none. Throws `operation_failed` when it is too long. */
export async function readClipboard(session: Session): Promise<string> {
  const text = await withClipboardPage(session, (page) => page.paste());
  if (text.length > MAX_CLIPBOARD_TEXT) {
    const most = String(MAX_CLIPBOARD_TEXT);
    throw new HoldfastError('operation_failed', `The clipboard exceeds ${most} characters`);
  }
  return text;
}

/** Puts text on the session's clipboard, in place of all that is there. The text is never logged. */
export async function writeClipboard(session: Session, { text }: { text: string }): Promise<void> {
  await withClipboardPage(session, async (page) => {
    await page.copy(text);
    // In the same page reading comes after writing: whatever is pasted from now on is the new text.
    if ((await page.paste()) === text) return;
    throw new HoldfastError('operation_failed', 'The browser did not accept the clipboard text; retry');
  });
}

/**
 * No page of the session takes part: what it listens to, forbids or lacks (a clipboard of its own on plain http) makes no
 * difference.
 */
async function withClipboardPage<T>(session: Session, action: (page: ClipboardPage) => Promise<T>): Promise<T> {
  await settleInput(session);
  const { cdp, pages } = session.chromium;
  try {
    return await withInternalPage(cdp, pages.defaultContextId(), async (page) => action(await openField(cdp, page)));
  } catch (error) {
    throw toHoldfastError(error);
  }
}

async function openField(cdp: CdpConnection, sessionId: string): Promise<ClipboardPage> {
  const evaluate = async (expression: string): Promise<unknown> =>
    (await cdp.send('Runtime.evaluate', { expression, returnByValue: true }, sessionId)).result.value;
  // As if it were in front: only then does the browser let it copy and paste.
  await cdp.send('Emulation.setFocusEmulationEnabled', { enabled: true }, sessionId);
  await evaluate(`{${FIELD}}`);
  const command = (name: 'copy' | 'paste') =>
    cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', commands: [name] }, sessionId);
  return {
    copy: async (text) => {
      await evaluate(`globalThis.copied = ${JSON.stringify(text)}; true`);
      await command('copy');
    },
    paste: async () => {
      await command('paste');
      return z.string().parse(await evaluate('globalThis.pasted'));
    },
  };
}
