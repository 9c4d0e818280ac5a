import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookActivities } from '../../activities/webhooks/deliver.ts';
import { createWebhookLanes, type WebhookLanes } from '../../client/delivery-clients.ts';
import { WEBHOOK_RETRY_DELAYS_S } from '../../contract/limits.ts';
import { WebhookEventType, type WebhookPayload } from '../../contract/webhooks.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { WebhookLane } from '../../store/queries/webhook-deliveries.ts';
import type { Store } from '../../store/store.ts';
import { addConnection, documentOf, SCOPE, useStore } from '../store/databases.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';

interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

const context = useStore();
const received: Received[] = [];
/** The endpoint's responses, by path; 204 by default. */
const answers = new Map<string, number[]>();
/** Called once between a post and its record, where a crash could occur. */
let breakAfterPost: (() => void) | null = null;
let server: Server;
let tests: WorkflowTests;
let lanes: WebhookLanes;

beforeAll(async () => {
  server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const { url: path = '', headers } = request;
      received.push({
        path,
        body,
        headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)])),
      });
      response.writeHead(answers.get(path)?.shift() ?? 204, { location: '/elsewhere' }).end('an answer nobody keeps');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { store } = context();
  const activities = createWebhookActivities(
    {
      webhookDeliveries: {
        ...store.webhookDeliveries,
        settle: async (id, attempt) => {
          const kill = breakAfterPost;
          breakAfterPost = null;
          kill?.();
          return await store.webhookDeliveries.settle(id, attempt);
        },
      },
    },
    createEgressPolicy(`127.0.0.1:${String(portOf(server))}`),
  );
  tests = await startWorkflowTests('time-skipping', {}, activities);
  lanes = createWebhookLanes({ temporal: tests.env.client, taskQueue: 'test' });
});
afterAll(async () => {
  await tests.close();
  server.close();
});

async function readAll(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces).toString('utf8');
}

function portOf(listening: Server): number {
  return (listening.address() as AddressInfo).port;
}

/** A webhook with a unique path, and a connection whose events it receives. */
async function listen(path: string, host = `127.0.0.1:${String(portOf(server))}`) {
  const { store } = context();
  const made = await store.webhooks.create(SCOPE, {
    url: `http://${host}${path}`,
    description: '',
    events: WebhookEventType.options,
  });
  const id = await addConnection(store);
  let revision = 1;
  return {
    ...made,
    connectionId: id,
    async becomes(status: 'AUTHENTICATED' | 'NEEDS_AUTH') {
      revision += 1;
      await store.connections.record({
        id,
        revision,
        document: documentOf(id, revision, { status }),
        createdAt: new Date(),
      });
    },
    deliveries: async () => (await store.webhookDeliveries.list(SCOPE, made.id, { limit: 100, offset: 0 })).rows,
    got: () => received.filter((each) => each.path === path),
    remove: () => store.webhooks.remove(SCOPE, made.id),
  };
}

/** Dispatches what is due, as the worker does, and waits until it is delivered or abandoned. */
async function dispatch(store: Store): Promise<WebhookLane[]> {
  const due = await store.webhookDeliveries.claimDueLanes(100);
  for (const lane of due) {
    await lanes.wake(lane);
    await store.webhookDeliveries.markDispatched(lane);
  }
  for (const { webhookId, lane } of due)
    await tests.env.client.workflow.getHandle(`webhook-${webhookId}-${lane}`).result();
  return due;
}

describe('a webhook', () => {
  it('receives the events of a connection in order, signed per Standard Webhooks', async () => {
    const { store } = context();
    const hook = await listen('/order');
    answers.set('/order', [500, 302]);
    await hook.becomes('AUTHENTICATED');
    await hook.becomes('NEEDS_AUTH');
    await dispatch(store);
    const types = hook
      .got()
      .map(({ headers, body }) => (new Webhook(hook.secret).verify(body, headers) as WebhookPayload).type);
    const first = 'connection.authenticated';
    expect(types).toEqual([first, first, first, 'connection.needs_auth']);
    expect(new Set(hook.got().map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    expect(received.filter(({ path }) => path === '/elsewhere')).toEqual([]);
    expect((await hook.deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 3],
    ]);
    expect(await dispatch(store)).toEqual([]);
    await hook.remove();
  });

  it('is paused after failing for three days, and receives pending events once resumed', async () => {
    const { store } = context();
    const hook = await listen('/dead');
    const attempts = WEBHOOK_RETRY_DELAYS_S.length + 1;
    answers.set(
      '/dead',
      Array.from({ length: attempts }, () => 503),
    );
    await hook.becomes('AUTHENTICATED');
    await hook.becomes('NEEDS_AUTH');
    const began = await tests.env.currentTimeMs();
    await dispatch(store);
    expect((await tests.env.currentTimeMs()) - began).toBeGreaterThanOrEqual(3 * 24 * 60 * 60_000);
    expect(hook.got()).toHaveLength(attempts);
    expect(await store.webhooks.find(SCOPE, hook.id)).toMatchObject({ status: 'paused', pausedReason: 'failing' });
    expect((await hook.deliveries()).map(({ status }) => status)).toEqual(['pending', 'failed']);
    expect(await dispatch(store)).toEqual([]);
    await store.webhooks.patch(SCOPE, hook.id, { status: 'active' });
    await dispatch(store);
    expect((await hook.deliveries()).map(({ status }) => status)).toEqual(['delivered', 'failed']);
    expect(hook.got()).toHaveLength(attempts + 1);
    await hook.remove();
  });

  it('receives an event again under the same id if the worker was lost before recording the delivery', async () => {
    const { store } = context();
    const hook = await listen('/killed');
    breakAfterPost = () => {
      throw new Error('as if killed');
    };
    await hook.becomes('AUTHENTICATED');
    await dispatch(store);
    const ids = hook.got().map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
    expect((await hook.deliveries()).map(({ status }) => status)).toEqual(['delivered']);
    await hook.remove();
  });

  it('is paused at once by a 410, and no event is sent to a forbidden address', async () => {
    const { store } = context();
    const gone = await listen('/gone');
    answers.set('/gone', [410]);
    const inside = await listen('/inside', `127.0.0.2:${String(portOf(server))}`);
    await gone.becomes('AUTHENTICATED');
    await dispatch(store);
    expect(await store.webhooks.find(SCOPE, gone.id)).toMatchObject({ status: 'paused', pausedReason: 'gone' });
    expect(inside.got()).toEqual([]);
    expect((await inside.deliveries())[0]).toMatchObject({ status: 'failed', last_error: 'address_refused' });
    await gone.remove();
    await inside.remove();
  });

  it('gets signatures of the previous secret too after a rotation, and a delivery again on request', async () => {
    const { store } = context();
    const hook = await listen('/rotated');
    const rotated = await store.webhooks.rotateSecret(SCOPE, hook.id);
    const sent = await store.webhookDeliveries.addTest(SCOPE, hook.id);
    await dispatch(store);
    await store.webhookDeliveries.redeliver(SCOPE, hook.id, sent?.id ?? '');
    await dispatch(store);
    expect(hook.got()).toHaveLength(2);
    for (const { headers, body } of hook.got())
      for (const secret of [hook.secret, rotated?.secret ?? ''])
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' });
    expect(hook.got().map(({ headers }) => headers['webhook-id'])).toEqual([sent?.message_id, sent?.message_id]);
    await hook.remove();
  });
});
