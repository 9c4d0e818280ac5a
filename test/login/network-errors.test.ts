import { expect, it } from 'vitest';
import { failIfRefused } from '../../activities/login/session/network-errors.ts';
import { createEgressPolicy } from '../../egress/policy.ts';

const egress = createEgressPolicy('127.0.0.1:8081');

it.each(['blocked', 'unavailable'] as const)(
  'reports the egress rules for a page that is %s at a refused address',
  async (kind) => {
    for (const address of ['http://10.255.255.1/login', 'https://169.254.169.254/', 'http://127.0.0.1:8082/'])
      await expect(failIfRefused(egress, address, { kind })).rejects.toMatchObject({ type: 'address_refused' });
  },
);

it('does not report them for a site that refuses by itself, or a page that asks for a login', async () => {
  await failIfRefused(egress, 'http://127.0.0.1:8081/login', { kind: 'blocked' });
  await failIfRefused(egress, 'https://93.184.215.14/', { kind: 'unavailable' });
  await failIfRefused(egress, 'chrome-error://chromewebdata/', { kind: 'unavailable' });
  await failIfRefused(egress, 'http://10.255.255.1/login', { kind: 'form' });
});
