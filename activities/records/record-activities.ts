import type { EntryReach, RecordActivities } from '../../contract/activities.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { TypingState } from '../../store/queries/typing-ledger.ts';
import type { Store } from '../../store/store.ts';
import { storedFacts } from '../login/credentials/attached-credential.ts';
import { pendingValuesKey } from '../login/credentials/pending-credential.ts';
import { failure, guard } from '../activity.ts';

/** Creates the activities that only access the store. All are idempotent: a revision that is not newer changes nothing. */
export function createRecordActivities(store: Store): RecordActivities {
  return {
    insertConnection: guard(async (document) => {
      // Ensures that the profile exists, also if the workflow was not started by the API.
      const scope = { organizationId: document.organization_id, projectId: document.project_id };
      await store.profiles.findOrCreate(scope, document.settings.profile_name);
      const row = {
        id: document.id,
        organizationId: document.organization_id,
        projectId: document.project_id,
        profileName: document.settings.profile_name,
        domain: document.settings.domain,
        document,
        revision: document.revision,
        createdAt: new Date(document.created_at),
      };
      const outcome = await store.connections.insert(row).catch((error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error;
        if (error.code === 'not_found') throw failure('project_gone', error.message, true);
        if (error.code === 'limit_reached') throw failure('limit_reached', error.message, true);
        throw error;
      });
      return { existingId: outcome.outcome === 'exists' ? outcome.existingId : null };
    }),

    recordConnection: guard(async ({ document, timeline }) => {
      await store.connections.record({
        id: document.id,
        revision: document.revision,
        document,
        timeline,
        createdAt: new Date(),
      });
    }),

    abandonEntry: guard(async ({ connectionId, flowId, entryId, submissionId }) => {
      const state = await store.typingLedger.abandon({ connectionId, flowId, interactionId: entryId });
      if (submissionId !== null) await store.submissions.destroy(submissionId);
      return {
        reach: reachOf(state),
        keptId: await store.submissions.find(connectionId, pendingValuesKey(flowId, entryId)),
      };
    }),

    readCredential: guard(async ({ credentialName, ...scope }) => {
      return await storedFacts(store, scope, credentialName);
    }),

    takeCheckSlot: guard(async ({ connectionId, intervalSeconds }) => {
      return { slot: await store.checkSlots.take(connectionId, intervalSeconds) };
    }),

    readRecorded: guard(async ({ connectionId }) => {
      const row = await store.connections.byIdUnscoped(connectionId);
      return row === null ? null : { revision: row.revision, lastCheckAt: row.document.last_auth_check_at };
    }),

    removeConnection: guard(async ({ connectionId, organizationId, projectId }) => {
      await store.connections.remove({ organizationId, projectId }, connectionId);
    }),
  };
}

function reachOf(state: TypingState | null): EntryReach {
  switch (state) {
    case null:
      return 'nothing';
    case 'intent':
    case 'typed':
      return 'keys';
    case 'pressed':
    case 'observed':
      // Observed: an earlier attempt of this activity has closed the entry; how far it got is no longer known.
      return 'press';
  }
}
