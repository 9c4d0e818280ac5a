import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * The timer of health checks, for one run. It does what `condition` does with a time, by less than half as many promises, of each
 * of which the SDK notes the stack: what cuts a wait short is looked out for by one condition for all waits.
 */
export class CheckTimer {
  #scope: CancellationScope | null = null;
  /** Of the wait that lasts. */
  #isCutShort: (() => boolean) | null = null;

  /** Waits; false when `isCutShort` came true before the time had passed. One wait at a time. */
  async passes(milliseconds: number, isCutShort: () => boolean): Promise<boolean> {
    const scope = (this.#scope ??= this.#watch());
    this.#isCutShort = isCutShort;
    try {
      await scope.run(() => sleep(milliseconds));
      return true;
    } catch (error) {
      if (!isCancellation(error) || this.#scope === scope) throw error;
      return false;
    } finally {
      this.#isCutShort = null;
    }
  }

  /** A scope for waits, until one of them is cut short. */
  #watch(): CancellationScope {
    const scope = new CancellationScope();
    const cut = (): void => {
      this.#scope = null;
      scope.cancel();
    };
    // Rejected when whoever waits is cancelled: so is the scope, which tells them.
    condition(() => this.#isCutShort?.() === true).then(cut, () => undefined);
    return scope;
  }
}
