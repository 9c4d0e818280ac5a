import { afterEach } from 'vitest';
import type { CredentialProviderType } from '../../contract/credential-providers.ts';
import {
  createExternalCredentials,
  type ExternalCredentials,
  type OpenedProvider,
} from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { startStandIn, TOKEN, type StandIn } from './stand-ins.ts';

/** The connection that asks. */
export const TARGET = { organizationId: 'org', domain: 'shop.example' };

let stands: StandIn[] = [];
afterEach(async () => {
  for (const stand of stands) await stand.close();
  stands = [];
});

/** External credentials whose only provider is a stand-in, which ends with the test. */
export async function connectTo(
  type: CredentialProviderType,
  answers: Parameters<typeof startStandIn>[0],
  change: Partial<OpenedProvider> = {},
  clock = (): number => 0,
): Promise<{ external: ExternalCredentials; stand: StandIn; account: OpenedProvider }> {
  const stand = await startStandIn(answers);
  stands.push(stand);
  const account: OpenedProvider = {
    id: 'cpv_1',
    type,
    token: TOKEN,
    address: stand.address,
    mount: null,
    namespace: null,
    region: null,
    enabled: true,
    cacheTtlSeconds: 300,
    updatedAt: new Date(0),
    ...change,
  };
  const external = createExternalCredentials({
    providers: {
      open: (organizationId, idOrName) =>
        Promise.resolve(organizationId === 'org' && idOrName !== 'nobody' ? account : null),
    },
    egress: createEgressPolicy(stand.host),
    clock,
  });
  return { external, stand, account };
}
