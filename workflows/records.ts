import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { RecordActivities } from '../contract/activities.ts';

const brief = proxyLocalActivities<RecordActivities>({
  startToCloseTimeout: '2 seconds',
  scheduleToCloseTimeout: '3 seconds',
  retry: { initialInterval: '200 milliseconds', maximumAttempts: 3 },
});
const patient = proxyActivities<RecordActivities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 day',
  // Once the store is back, pending writes arrive within half a minute.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Writes to the store: as cheap local activities, then for up to a day as regular ones, which block no workflow task. */
export const records: RecordActivities = {
  insertConnection: (document) => persist((store) => store.insertConnection(document)),
  recordConnection: (record) => persist((store) => store.recordConnection(record)),
  abandonEntry: (input) => persist((store) => store.abandonEntry(input)),
  readCredential: (input) => persist((store) => store.readCredential(input)),
  // A check at a shared time is better than none: nobody waits a day for a slot.
  takeCheckSlot: (input) => brief.takeCheckSlot(input),
  readRecorded: (input) => persist((store) => store.readRecorded(input)),
  removeConnection: (address) => persist((store) => store.removeConnection(address)),
};

async function persist<Result>(write: (store: RecordActivities) => Promise<Result>): Promise<Result> {
  try {
    return await write(brief);
  } catch (error) {
    if (isCancellation(error) || isFinal(error)) throw error;
    return await write(patient);
  }
}

function isFinal(error: unknown): boolean {
  return (
    error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.nonRetryable === true
  );
}
