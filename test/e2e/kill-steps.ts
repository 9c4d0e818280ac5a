import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Kernel, { toFile } from '@onkernel/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ManagedAuth } from '../../contract/connections.ts';
import type { TypingState } from '../../store/queries/typing-ledger.ts';
import type { Store } from '../../store/store.ts';
import { newcomer, personAt, type Person } from './person.ts';
import { createPractice, type Practice } from './practice.ts';
import { programArchive } from './program-archive.ts';
import { startProcessTree, until, type ProcessTree, type Role } from './process-tree.ts';

/** Longest that a flow may take to ask again or to end after a kill, on a busy machine with two cores. */
const RECOVERS_WITHIN_MS = 120_000;
/** Many keys take long enough to be killed among them: seconds, where a kill comes within a tenth of one. */
const LONG_PASSWORD = 'many keys '.repeat(60).trim();

/** Its action stays for good in its first run, with a browser under the name that the next one wants, too. */
const STAYS_ONCE = `
import Kernel from '@onkernel/sdk';
const kernel = new Kernel();
kernel.app('stays').action('once', async (context, { name }) => {
  const isFirst = await kernel.profiles.create({ name }).then(() => true, () => false);
  await kernel.browsers.create({ name, headless: true });
  if (!isFirst) return 'again';
  await new Promise(() => setInterval(() => undefined, 1000));
});
`;

/** The parts that are killed in each kind of walk. */
export interface Kills {
  /** While a login page is looked for. */
  looking: readonly Role[];
  /** While a person is awaited; `chromium` is that of the session alone. */
  awaiting: readonly (Role | 'chromium')[];
  /** Among the keys of a password. */
  typing: readonly 'worker'[];
  /** Between the press and a slow answer. */
  pressed: readonly Role[];
  /** In a health check. */
  checking: readonly 'worker'[];
  /** While an action of a program runs. */
  invoking: readonly 'worker'[];
  /** `supervisor`: everything, which is started again. */
  everything: readonly 'supervisor'[];
}

/**
 * Tests of what is left of a login when a part is killed: whatever dies, the login goes on or asks again, and no password
 * is typed more often than it was given.
 */
export function testKills(kills: Kills): void {
  let tree: ProcessTree;
  let practice: Practice;
  let kernel: Kernel;
  let store: Store;

  beforeAll(async () => {
    tree = await startProcessTree();
    practice = createPractice(tree.sandboxUrl);
    kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, maxRetries: 5 });
    store = await tree.openStore();
  }, 300_000);

  afterAll(async () => {
    await store.close();
    await tree.remove();
  }, 90_000);

  it.each(kills.looking)(
    'goes on when the %s dies while a login page is looked for',
    { timeout: 240_000 },
    async (role) => {
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login') });
      await person.login();
      await killed(role);
      await finishes(person, 'alice');
    },
  );

  it.each(kills.awaiting)(
    'takes the answer, or asks again, when the %s dies while a person is awaited',
    { timeout: 240_000 },
    async (role) => {
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login') });
      await person.login();
      const { browser_session_id: session } = await asked(person);
      if (role === 'chromium') await tree.killChromium(session ?? '');
      else await killed(role);
      await finishes(person, 'bob');
    },
  );

  it.each(kills.typing)(
    'types no password twice when the %s dies among its keys',
    { timeout: 240_000 },
    async (role) => {
      await practice.setPassword('carol', LONG_PASSWORD);
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login') });
      await person.login();
      const { interaction_id: interaction } = await asked(person);
      await person.give({ identifier: 'carol', password: LONG_PASSWORD });
      await untilLedgerSays(person, interaction, ['intent', 'typed', 'pressed']);
      await killed(role);
      await finishes(person, 'carol', LONG_PASSWORD, 1);
    },
  );

  it.each(kills.pressed)(
    'types no password twice when the %s dies between the press and a slow answer',
    { timeout: 240_000 },
    async (role) => {
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login') });
      await person.login();
      const { interaction_id: interaction } = await asked(person);
      await slow(6000);
      await person.give({ identifier: 'dave', password: practice.user('dave').password });
      await untilLedgerSays(person, interaction, ['pressed', 'observed']);
      await killed(role);
      await slow(null);
      await finishes(person, 'dave', undefined, 1);
    },
  );

  it.each(kills.checking)(
    'is logged in again, or says why not, when the %s dies in a health check',
    { timeout: 240_000 },
    async (role) => {
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login') });
      await person.login();
      await finishes(person, 'erin');
      await practice.expire('erin');
      const before = (await practice.counts('erin')).passwords;
      // One that has ended its work may still be there, or not.
      const known = new Set(await tree.chromiums());
      const check = kernel.post(`/auth/connections/${person.id}/check`).catch(() => null);
      await until(
        async () => (await tree.chromiums()).some((pid) => !known.has(pid)) || null,
        RECOVERS_WITHIN_MS,
        'a browser of the check',
      );
      await killed(role);
      await check;
      const end = await until(
        async () => {
          const now = await person.read().catch(() => null);
          return now?.flow_type === 'REAUTH' && now.flow_status !== 'IN_PROGRESS' ? now : null;
        },
        RECOVERS_WITHIN_MS,
        'the end of REAUTH',
      );
      expect(end.flow_status).toBe('SUCCESS');
      expect((await practice.counts('erin')).passwords - before).toBe(1);
    },
  );

  it.each(kills.invoking)(
    'runs an action again, or says that it was lost, when the %s dies in the middle of it',
    { timeout: 240_000 },
    async (role) => {
      const file = await toFile(await programArchive({ 'index.mjs': STAYS_ONCE }), 'program.zip');
      const { id: deployment } = await kernel.deployments.create({ entrypoint_rel_path: 'index.mjs', file });
      await until(
        async () => (await kernel.deployments.retrieve(deployment)).status === 'running' || null,
        RECOVERS_WITHIN_MS,
        'the program to be built',
      );
      const invoke = (name: string, retries: number) =>
        kernel.post<{ id: string }>('/invocations', {
          body: {
            ...{ app_name: 'stays', action_name: 'once', version: 'latest', async: true, retries },
            payload: JSON.stringify({ name: `${name}-${randomUUID()}` }),
          },
        });
      const made = [await invoke('tried-once', 0), await invoke('tried-twice', 1)];
      for (const { id } of made) {
        await until(
          async () => (await kernel.invocations.listBrowsers(id)).browsers.length > 0 || null,
          RECOVERS_WITHIN_MS,
          'its browser',
        );
      }
      await killed(role);
      const ends = await Promise.all(
        made.map(({ id }) =>
          until(
            async () => {
              const now = await kernel.invocations.retrieve(id).catch(() => null);
              return now?.status === 'succeeded' || now?.status === 'failed' ? now : null;
            },
            RECOVERS_WITHIN_MS,
            'the end of an invocation',
          ),
        ),
      );
      expect(ends[0]?.status).toBe('failed');
      expect(ends[0]?.status_reason).toContain('was lost');
      expect(ends[1]).toMatchObject({ status: 'succeeded', output: '"again"' });
      for (const { id } of made) {
        await until(
          async () => (await kernel.invocations.listBrowsers(id)).browsers.length === 0 || null,
          RECOVERS_WITHIN_MS,
          'no browser to be left',
        );
      }
    },
  );

  it.each(kills.everything)(
    'goes on where it was when the %s and all else is killed and started again',
    { timeout: 300_000 },
    async (role) => {
      const person = await newcomer({ kernel, practice }, { login_url: practice.page('/login/two-step') });
      await person.login();
      await asked(person);
      await tree.kill(role);
      await tree.start();
      await finishes(person, 'frank');
      const left = await until(
        async () => {
          const [chromiums, folders] = [
            await tree.chromiums(),
            await readdir(join(tree.dataDir, 'browsers', 'sessions')),
          ];
          return chromiums.length <= 1 && folders.length <= 1 ? folders : null;
        },
        RECOVERS_WITHIN_MS,
        'no browser but the one that waits',
      );
      expect(left.every((name) => name.startsWith('warm-'))).toBe(true);
    },
  );

  /** Kills a part and waits until it is back. */
  async function killed(role: Role): Promise<void> {
    const from = tree.output().length;
    await tree.kill(role);
    const again = `${role} is ready again`;
    await until(() => Promise.resolve(tree.output().includes(again, from) || null), RECOVERS_WITHIN_MS, again);
    await tree.untilHealthy(RECOVERS_WITHIN_MS);
  }

  /**
   * Answers whatever is asked until the login is done, and shows what must hold then: nothing is lost, and the site saw no
   * more passwords than answers. `given`: answers with a password that were given before.
   */
  async function finishes({ id }: Person, user: string, password?: string, given = 0): Promise<void> {
    // Somebody who has seen no pause yet: one that still waits is answered as it is.
    const person = personAt(kernel, id);
    const values = { identifier: practice.user(user).email, password: password ?? practice.user(user).password };
    const seenBefore = passwordsBefore.get(user) ?? 0;
    let answers = given;
    for (;;) {
      const now = await asksOrEnds(person);
      if (now.flow_status !== 'IN_PROGRESS') break;
      const pause = await person.asked();
      const types = new Set(pause.fields?.map(({ type }) => type));
      if (types.has('password')) answers += 1;
      const wanted = Object.entries(values).filter(([type]) => [...types].some((each) => each === type));
      await person.give(Object.fromEntries(wanted));
    }
    const end = await person.loggedIn();
    expect(end.status).toBe('AUTHENTICATED');
    const { passwords } = await practice.counts(user);
    passwordsBefore.set(user, passwords);
    expect(passwords - seenBefore).toBeGreaterThanOrEqual(1);
    expect(passwords - seenBefore).toBeLessThanOrEqual(answers);
    const name = end.credential?.name ?? '';
    expect((await kernel.credentials.retrieve(name)).has_values).toBe(true);
    expect((await kernel.profiles.retrieve(end.profile_name)).name).toBe(end.profile_name);
  }

  const passwordsBefore = new Map<string, number>();

  function asksOrEnds(person: Person): Promise<ManagedAuth> {
    return until(
      async () => {
        const now = await person.read().catch(() => null);
        if (now === null) return null;
        return now.flow_status !== 'IN_PROGRESS' || now.flow_step === 'AWAITING_INPUT' ? now : null;
      },
      RECOVERS_WITHIN_MS,
      `${person.id} to ask or to end`,
    );
  }

  async function asked(person: Person): Promise<ManagedAuth & { interaction_id: string }> {
    return await person.asked();
  }

  /** The ledger of an answer, read from outside: the very moment at which to kill. */
  async function untilLedgerSays(person: Person, interactionId: string, states: TypingState[]): Promise<void> {
    const row = await store.connections.byIdUnscoped(person.id);
    const flowId = row?.document.flow?.flow_id ?? '';
    await until(
      async () => {
        const entry = await store.typingLedger.read(flowId, interactionId);
        return entry !== null && states.includes(entry.state) ? entry : null;
      },
      RECOVERS_WITHIN_MS,
      `the ledger to say ${states.join(' or ')}`,
      10,
    );
  }

  /** Answers of the site take so many milliseconds; null: none. */
  async function slow(milliseconds: number | null): Promise<void> {
    const body = milliseconds === null ? { mode: 'ok' } : { mode: 'slow', delay_ms: milliseconds };
    await fetch(`${tree.sandboxUrl}/test/mode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
}
