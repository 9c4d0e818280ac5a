/** How many rows of the audit log requests of nobody known may make in a minute: of one address, and of all together. */
const ROWS_AN_ADDRESS = 10;
const ROWS_A_MINUTE = 60;
/** Addresses of which it is told how often they were left out; what the others sent is counted together. */
const ADDRESSES_COUNTED = 5;
const MINUTE_MS = 60_000;

/** Requests of one minute that were left out of the audit log; `address` is empty for those of several. */
export interface SuppressedRequests {
  at: Date;
  address: string;
  count: number;
}

/** Decides which requests of strangers leave a row, so that a flood of them fills neither memory nor disk. */
export interface AnonymousBudget {
  /** True when a request may leave a row; else it is counted. */
  admit(address: string, now: Date): boolean;
  /** What was left out in minutes that are over by `now`, once; with `whole` in the current one, too. */
  takeSuppressed(now: Date, whole?: boolean): SuppressedRequests[];
}

/** A budget for one process. */
export function createAnonymousBudget(): AnonymousBudget {
  let minute = 0;
  let rows = 0;
  let admitted = new Map<string, number>();
  let leftOut = new Map<string, number>();
  let due: SuppressedRequests[] = [];

  const close = (): void => {
    due.push(...[...leftOut].map(([address, count]) => ({ at: new Date(minute * MINUTE_MS), address, count })));
    // A log that cannot be written to must not hold more and more of them.
    due = due.slice(-10 * (ADDRESSES_COUNTED + 1));
    leftOut = new Map();
  };
  const turn = (now: Date): void => {
    const current = Math.floor(now.getTime() / MINUTE_MS);
    if (current === minute) return;
    close();
    minute = current;
    rows = 0;
    admitted = new Map();
  };

  return {
    admit: (address, now) => {
      turn(now);
      const ofAddress = admitted.get(address) ?? 0;
      if (rows < ROWS_A_MINUTE && ofAddress < ROWS_AN_ADDRESS) {
        rows += 1;
        admitted.set(address, ofAddress + 1);
        return true;
      }
      const counted = leftOut.has(address) || leftOut.size < ADDRESSES_COUNTED ? address : '';
      leftOut.set(counted, (leftOut.get(counted) ?? 0) + 1);
      return false;
    },
    takeSuppressed: (now, whole = false) => {
      turn(now);
      if (whole) close();
      return due.splice(0);
    },
  };
}
