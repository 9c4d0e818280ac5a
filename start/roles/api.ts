import { Connection } from '@temporalio/client';
import { pino } from 'pino';
import { createExportDelivery, testDelivery } from '../../activities/audit-export/delivery.ts';
import type { ConsoleSettings } from '../../api/console/document.ts';
import { startApi } from '../../api/service.ts';
import { createCodeInbox } from '../../codes/inbox.ts';
import { startSmtp } from '../../codes/smtp.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy, forbiddenRange, isListedHost } from '../../egress/policy.ts';
import { createUpstreamCheck } from '../../egress/upstream-check.ts';
import { createGithubFetcher } from '../../program-sources/github.ts';
import { SANDBOX_USERS } from '../../sandbox/site.ts';
import { browserBaseUrl, connectTemporal, openStore } from '../backends.ts';
import { createHealth } from '../health.ts';
import { sharedKeys } from '../keys.ts';
import type { Settings } from '../settings.ts';
import { openTemporalClients } from '../temporal-clients.ts';
import { runRole } from './run-role.ts';

await runRole('api', async (settings, keys) => {
  const { connection, namespace } = await connectTemporal(settings, (options) => Connection.connect(options));
  const store = await openStore(settings, keys);
  const shared = await sharedKeys(store, keys);
  const policy = createEgressPolicy(settings.allowPrivateHosts);
  const browser = { baseUrl: browserBaseUrl(settings), apiKey: keys.browserApiKey };
  const clients = await openTemporalClients({ connection, namespace, store, keys: shared, settings });
  const { connections, apps, auditExports } = clients;
  const clock = (): Date => new Date();
  const delivery = createExportDelivery(settings.exportStore, policy);
  const { smtpPort: port, host } = settings;
  const inbox = createCodeInbox({ store, connections, clock });
  const smtp = port === undefined ? null : await startSmtp({ store, inbox, port, host });
  const api = await startApi({
    port: settings.ports.api,
    host: settings.host,
    store,
    connections,
    apps,
    auditExports: {
      wake: (id) => auditExports.wake(id),
      test: (destination) => testDelivery(delivery, destination),
    },
    settings: {
      publicUrl: settings.publicUrl,
      plan: settings.plan,
      recordingDays: settings.recordingDays,
      browserBaseUrl: browser.baseUrl,
      browserApiKey: browser.apiKey,
      allowedOrigins: settings.allowedOrigins,
      console: consoleSettings(settings),
      ...(settings.exportServiceRoleArn === undefined ? {} : { exportServiceRoleArn: settings.exportServiceRoleArn }),
      ...(settings.oidc === undefined ? {} : { oidc: settings.oidc }),
      ...(settings.trustProxy === undefined ? {} : { trustProxy: settings.trustProxy }),
    },
    addressPolicy: { isListed: (host, port) => isListedHost(policy, host, port), forbiddenRange },
    checkProxy: createUpstreamCheck({ policy }),
    fetchSource: createGithubFetcher({ apiUrl: settings.githubApiUrl, egress: policy }),
    externalCredentials: createExternalCredentials({ providers: store.credentialProviders, egress: policy }),
    signingKey: shared.signingKey,
    logger: pino({ name: 'api', base: null }),
    clock,
    health: createHealth({ store, connection, namespace, browser }),
  });
  return {
    async close() {
      await smtp?.close();
      await api.close();
      await store.close();
      await connection.close();
    },
  };
});

/** What the console shows of this installation: the sandbox, and Temporal's UI. */
function consoleSettings(settings: Settings): ConsoleSettings {
  const [user] = SANDBOX_USERS;
  const ownTemporalUi = `http://localhost:${settings.ports.temporalUi}/namespaces/default`;
  return {
    sandbox:
      settings.sandbox && user !== undefined
        ? {
            loginUrl: `http://localhost:${settings.ports.sandbox}${user.loginPath}`,
            username: user.username,
            password: user.password,
          }
        : null,
    temporalUiUrl: settings.temporalUiUrl ?? (settings.externalTemporal === undefined ? ownTemporalUi : null),
  };
}
