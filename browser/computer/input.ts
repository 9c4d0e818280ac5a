import { HoldfastError } from '../../contract/errors.ts';
import type { CdpCommand, CdpParams } from '../cdp/connection.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';

/** Input to the page that is in use. */
export interface InputTarget {
  page: Page;
  /**
   * Dispatches one input event and resolves when the page has handled it. An event that opens a dialog or closes the
   * page is never acknowledged: that counts as handled.
   */
  dispatch<M extends InputCommand>(method: M, params: CdpParams<M>): Promise<void>;
}

type InputCommand = Extract<CdpCommand, 'Input.dispatchMouseEvent' | 'Input.dispatchKeyEvent' | 'Input.insertText'>;

/**
 * The active page of a session as a target of input. Throws `operation_failed` when every page is closed, or when a
 * dialog holds the page: input would be lost without a word.
 */
export function inputTarget(session: Session): InputTarget {
  const { cdp, pages } = session.chromium;
  const page = pages.active();
  if (page === undefined) throw new HoldfastError('operation_failed', 'The session has no open page');
  if (page.dialog !== null) {
    throw new HoldfastError(
      'operation_failed',
      `A dialog (${page.dialog.type}) is open in the page; press Return to accept it or Escape to dismiss it`,
    );
  }
  return {
    page,
    dispatch: async (method, params) => {
      const interruption = pages.interrupted(page);
      try {
        const dispatched = cdp.send<CdpCommand>(method, params, page.sessionId);
        await Promise.race([dispatched, interruption.promise]);
        dispatched.catch(() => undefined);
      } catch (error) {
        if (pages.active() === page) throw asHoldfastError(error);
      } finally {
        interruption.stop();
      }
    },
  };
}

/** Speaks of a failed command by its kind alone: its parameters may be what somebody typed. */
export function asHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (!(error instanceof CdpError)) return new HoldfastError('internal_error', 'The action failed');
  switch (error.reason) {
    case 'closed':
      return new HoldfastError('not_found', 'The browser session has ended');
    case 'timeout':
      return new HoldfastError('operation_failed', 'The page did not handle the action in time');
    case 'refused':
      return new HoldfastError('operation_failed', 'The browser refused the action');
  }
}
