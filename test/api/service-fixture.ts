import { randomBytes } from 'node:crypto';
import Kernel, { type ClientOptions } from '@onkernel/sdk';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import type { ApiDeps, ApiServer, LogFields } from '../../api/context.ts';
import { createApi, startApi, type RunningApi } from '../../api/service.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy, forbiddenRange, isListedHost } from '../../egress/policy.ts';
import { createStore, type Store } from '../../store/store.ts';
import { startDatabase } from '../store/databases.ts';
import { createFakeConnections, type FakeConnections } from './fake-connections.ts';

/** An organization-wide key, as set by an operator with HOLDFAST_API_KEY. */
export const API_KEY = 'an-operator-chosen-key-of-the-tests';

/** The service over a real store, with workflows that the test drives. */
export interface ServiceFixture {
  app: ApiServer;
  deps: ApiDeps;
  store: Store;
  connections: FakeConnections;
  /** Shifts the service's clock from real time, in milliseconds. */
  shiftClock: (milliseconds: number) => void;
  logged: { fields: LogFields; message: string }[];
  /** A request with the organization-wide key. */
  call: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object | null,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
}

/** Starts the service once per test file. `fixture()` is ready within tests and hooks. */
export function useService(overrides: Partial<ApiDeps> = {}): () => ServiceFixture {
  let current: ServiceFixture | null = null;
  let stop: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    const database = await startDatabase();
    const store = createStore({ connection: database.connection, masterKey: randomBytes(32) });
    await store.bootstrap({ plan: 'enterprise', apiKey: API_KEY });
    current = await createFixture(store, overrides);
    const { app } = current;
    stop = async () => {
      await app.close();
      await store.close();
      await database.stop();
    };
  });
  afterAll(() => stop());

  return () => {
    if (current === null) throw new Error('The service is not up yet.');
    return current;
  };
}

/** The service on a port: its URL, and public clients for a key, by default the organization-wide one. */
export interface ListeningService {
  url: () => string;
  client: (options?: Pick<ClientOptions, 'apiKey' | 'defaultHeaders'>) => Kernel;
}

/** Makes the service listen once per test file. Both are ready within tests and in later hooks. */
export function useListeningService(fixture: () => ServiceFixture): ListeningService {
  let api: RunningApi | null = null;
  beforeAll(async () => {
    api = await startApi({ ...fixture().deps, port: 0 });
  });
  afterAll(() => api?.close());
  const url = (): string => {
    if (api === null) throw new Error('The service does not listen yet.');
    return api.url;
  };
  return { url, client: (options) => new Kernel({ apiKey: API_KEY, baseURL: url(), maxRetries: 0, ...options }) };
}

/** An apps client that neither builds nor runs programs. */
const NO_APPS: ApiDeps['apps'] = {
  deploy: async () => undefined,
  invoke: async () => undefined,
  cancel: async () => undefined,
  state: async () => 'none',
};

async function createFixture(store: Store, overrides: Partial<ApiDeps>): Promise<ServiceFixture> {
  let shift = 0;
  const clock = () => new Date(Date.now() + shift);
  const logged: ServiceFixture['logged'] = [];
  const log = (fields: LogFields, message: string) => void logged.push({ fields, message });
  const policy = createEgressPolicy('allowed.test, localhost:8081');
  const connections = createFakeConnections(() => store, clock);
  const deps: ApiDeps = {
    store,
    connections,
    apps: NO_APPS,
    auditExports: { wake: async () => undefined, test: async () => ({ success: true, stage: 'complete' }) },
    settings: {
      exportServiceRoleArn: 'arn:aws:iam::111122223333:role/holdfast',
      publicUrl: 'http://holdfast.test:8080',
      plan: 'enterprise',
      browserBaseUrl: 'http://127.0.0.1:9',
      browserApiKey: 'key of the browser service',
    },
    addressPolicy: { isListed: (host, port) => isListedHost(policy, host, port), forbiddenRange },
    checkProxy: async () => true,
    fetchSource: () => Promise.reject(new Error('no test fetches a program')),
    externalCredentials: createExternalCredentials({ providers: store.credentialProviders, egress: policy }),
    signingKey: randomBytes(32),
    logger: { info: log, warn: log, error: log },
    clock,
    health: async () => ({ store: { ready: true } }),
    ...overrides,
  };
  const app = await createApi(deps);
  await app.ready();
  return {
    app,
    deps,
    store,
    connections,
    logged,
    shiftClock: (milliseconds) => {
      shift = milliseconds;
    },
    call: (method, url, payload, headers = {}) => {
      const options: InjectOptions = { method, url, headers: { authorization: `Bearer ${API_KEY}`, ...headers } };
      return app.inject(
        payload === undefined
          ? options
          : {
              ...options,
              payload: JSON.stringify(payload),
              headers: { ...options.headers, 'content-type': 'application/json' },
            },
      );
    },
  };
}
