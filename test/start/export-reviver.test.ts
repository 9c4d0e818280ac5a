import { expect, it, vi } from 'vitest';
import { HoldfastError } from '../../contract/errors.ts';
import { reviveExports } from '../../start/revivers.ts';
import { SCOPE, useStore } from '../store/databases.ts';

const context = useStore();

it('starts the workflows of all active destinations, and of no other', async () => {
  const { auditExportDestinations: destinations } = context().store;
  const settings = { region: 'r', bucket: 'bucket', prefix: '', role_arn: 'a', kms_key_id: null };
  const ids: string[] = [];
  for (let made = 0; made < 102; made += 1) ids.push((await destinations.create(SCOPE.organizationId, settings)).id);
  await destinations.patch(SCOPE.organizationId, ids[0] ?? '', { status: 'paused' });
  const start = vi.fn<(id: string) => Promise<void>>().mockResolvedValue();
  await reviveExports(destinations, { start });
  expect(start.mock.calls.flat()).toEqual(ids.slice(1).toSorted());

  start.mockRejectedValue(new HoldfastError('unavailable', 'Temporal does not answer'));
  await expect(reviveExports(destinations, { start })).rejects.toMatchObject({ code: 'unavailable' });
});
