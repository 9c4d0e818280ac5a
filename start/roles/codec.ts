import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { createCodecServer } from '../../workers/data-converter/codec-server.ts';
import { createPayloadCodec } from '../../workers/data-converter/payload-codec.ts';
import { openStore } from '../connections.ts';
import { sharedKeys } from '../keys.ts';
import { runRole } from './run-role.ts';

/** Whoever operates the installation may read: holders of a key of its own organization that no project bounds. */
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
