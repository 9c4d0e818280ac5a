/** Audit rows that unauthenticated requests may write per minute: from one address, and in total. */
const MAX_ROWS_PER_ADDRESS = 10;
const MAX_ROWS = 60;
/** Addresses whose suppressed requests are counted separately; those of all others are counted together. */
const MAX_COUNTED_ADDRESSES = 5;
const MINUTE_MS = 60_000;

/** Requests of one minute that were left out of the audit log. `address` is empty for the total of several. */
export interface SuppressedRequests {
  at: Date;
  address: string;
  count: number;
}

/** Decides which unauthenticated requests are audited, so that a flood of them fills neither memory nor disk. */
export interface AnonymousBudget {
  /** Whether to audit a request; otherwise it is counted as suppressed. */
  admit(address: string, now: Date): boolean;
  /** Takes the counts of minutes that have ended by `now`; with `includeCurrent`, of the current minute as well. */
  takeSuppressed(now: Date, includeCurrent?: boolean): SuppressedRequests[];
}

/** Creates the budget of one process. */
export function createAnonymousBudget(): AnonymousBudget {
  let minute = 0;
  let rows = 0;
  let admitted = new Map<string, number>();
  let suppressed = new Map<string, number>();
  let due: SuppressedRequests[] = [];

  const closeMinute = (): void => {
    due.push(...[...suppressed].map(([address, count]) => ({ at: new Date(minute * MINUTE_MS), address, count })));
    // Bounded, in case the log cannot be written to.
    due = due.slice(-10 * (MAX_COUNTED_ADDRESSES + 1));
    suppressed = new Map();
  };
  const advanceTo = (now: Date): void => {
    const current = Math.floor(now.getTime() / MINUTE_MS);
    if (current === minute) return;
    closeMinute();
    minute = current;
    rows = 0;
    admitted = new Map();
  };

  return {
    admit: (address, now) => {
      advanceTo(now);
      const addressRows = admitted.get(address) ?? 0;
      if (rows < MAX_ROWS && addressRows < MAX_ROWS_PER_ADDRESS) {
        rows += 1;
        admitted.set(address, addressRows + 1);
        return true;
      }
      const key = suppressed.has(address) || suppressed.size < MAX_COUNTED_ADDRESSES ? address : '';
      suppressed.set(key, (suppressed.get(key) ?? 0) + 1);
      return false;
    },
    takeSuppressed: (now, includeCurrent = false) => {
      advanceTo(now);
      if (includeCurrent) closeMinute();
      return due.splice(0);
    },
  };
}
