import { CAPTCHA_SCRIPT } from './captcha-script.ts';
import { interactionScript } from './interaction-script.ts';

/** What of a page only a script in it can see. */
export interface PageScriptOptions {
  interaction: boolean;
  captcha: boolean;
  /** Whether what is typed may be told. */
  typed: boolean;
}

/**
 * The script for each frame, or null where none is needed. `binding` is the function by which it tells. A document that has
 * changed its process gets that function a moment after the script has begun: until then it keeps what it has to say. Such a
 * document may be given the script twice, as it begins and as one that is there: the second does nothing.
 */
export function pageScript(binding: string, wanted: PageScriptOptions): string | null {
  const parts = [
    ...(wanted.interaction ? [interactionScript(wanted.typed)] : []),
    ...(wanted.captcha ? [CAPTCHA_SCRIPT] : []),
  ];
  if (parts.length === 0) return null;
  return String.raw`(() => {
  const begun = Symbol.for('${binding}');
  if (globalThis[begun]) return;
  globalThis[begun] = true;
  const RETRY_MS = 50;
  const MAX_KEPT = 100;
  const kept = [];
  let retry = 0;
  const flush = () => {
    const send = globalThis.${binding};
    clearTimeout(retry);
    if (send === undefined) retry = setTimeout(flush, RETRY_MS);
    else for (const said of kept.splice(0)) send(said);
  };
  const tell = (said) => {
    if (kept.length === MAX_KEPT) kept.shift();
    kept.push(JSON.stringify(said));
    flush();
  };
${parts.join('\n')}
})();`;
}
