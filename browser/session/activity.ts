/** Detects that a session has been idle for its timeout. */
export interface ActivityClock {
  /** Marks the session as in use (a call or an open connection) until the returned function is called. */
  begin(): () => void;
  /** Changes the timeout, which counts from the last activity. */
  setTimeout(milliseconds: number): void;
  stop(): void;
}

/** Calls `onIdle` once after `milliseconds` without any use. */
export function createActivityClock(milliseconds: number, onIdle: () => void): ActivityClock {
  let limit = milliseconds;
  let uses = 0;
  let lastUse = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const arm = (): void => {
    clearTimeout(timer);
    if (stopped || uses > 0) return;
    timer = setTimeout(
      () => {
        stopped = true;
        onIdle();
      },
      Math.max(0, lastUse + limit - Date.now()),
    );
    timer.unref();
  };
  arm();

  return {
    begin: () => {
      uses += 1;
      clearTimeout(timer);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        uses -= 1;
        lastUse = Date.now();
        arm();
      };
    },
    setTimeout: (value) => {
      limit = value;
      arm();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
