import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { createCodecServer } from '../../workers/data-converter/codec-server.ts';
import { createPayloadCodec } from '../../workers/data-converter/payload-codec.ts';
import { openStore } from '../backends.ts';
import { sharedKeys } from '../keys.ts';
import { runRole } from './run-role.ts';

/** Only the operator may read payloads: holders of an organization-wide key of the default organization. */
await runRole('codec', async (settings, keys) => {
  const store = await openStore(settings, keys);
  const { payloadKeys } = await sharedKeys(store, keys);
  const server = await createCodecServer({
    codec: createPayloadCodec(payloadKeys),
    mayRead: async (apiKey) => {
      const key = await store.apiKeys.authenticate(apiKey);
      return key?.organizationId === DEFAULT_ORGANIZATION_ID && key.projectId === null;
    },
    uiOrigins: settings.codecOrigins,
  });
  await server.listen({ port: settings.ports.codec, host: settings.host });
  return {
    async close() {
      await server.close();
      await store.close();
    },
  };
});
