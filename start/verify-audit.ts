import { openStore } from './connections.ts';
import { loadKeys } from './keys.ts';
import { parseSettings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { say } from './terminal.ts';

/** `npm run audit -- verify`: tells whether a row of the audit log was changed or taken out since it was written. */
export async function verifyAudit(): Promise<void> {
  if (process.argv[2] !== 'verify') throw new SetupError('Unknown command; use npm run audit -- verify');
  const settings = parseSettings();
  const store = await openStore(settings, await loadKeys(settings));
  try {
    const { rows, broken } = await store.auditLog.verify();
    if (broken === null) {
      say(`${rows} rows are as they were written, none is missing between them.`);
      return;
    }
    const fault =
      broken.fault === 'changed' ? 'was changed, or put in by somebody else' : 'does not follow the row before it';
    throw new SetupError(`Row ${broken.seq} of audit_log ${fault}; the ${rows} rows before it were checked`);
  } finally {
    await store.close();
  }
}
