import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_CLIPBOARD_TEXT } from '../../contract/computer.ts';
import type { CdpConnection } from '../cdp/connection.ts';
import { withInternalPage } from '../chromium/internal-page.ts';
import type { Session } from '../session/session.ts';
import { toHoldfastError } from './errors.ts';
import { settleInput } from './settle.ts';

/**
 * A field to copy from and paste into. Its listeners transfer the text unchanged, as the field itself would normalize line
 * breaks. Pasted text is truncated, so that a page cannot make us read any amount.
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

/** A hidden page of the service, used only for clipboard commands. */
interface ClipboardPage {
  copy(text: string): Promise<void>;
  paste(): Promise<string>;
}

/** Reads the text on the session's clipboard; empty if there is none. Throws `operation_failed` if it is too long. */
export async function readClipboard(session: Session): Promise<string> {
  const text = await withClipboardPage(session, (page) => page.paste());
  if (text.length > MAX_CLIPBOARD_TEXT) {
    const most = String(MAX_CLIPBOARD_TEXT);
    throw new HoldfastError('operation_failed', `The clipboard exceeds ${most} characters`);
  }
  return text;
}

/** Replaces the content of the session's clipboard. The text is never logged. */
export async function writeClipboard(session: Session, { text }: { text: string }): Promise<void> {
  await withClipboardPage(session, async (page) => {
    await page.copy(text);
    // Reading it back in the same page ensures that later pastes see the new text.
    if ((await page.paste()) === text) return;
    throw new HoldfastError('operation_failed', 'The browser did not accept the clipboard text; retry');
  });
}

/** Uses a separate page, so that listeners, permissions or missing clipboard access (plain http) of the session's pages do not matter. */
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
  // The browser only allows copy and paste in a focused page.
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
