import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Kernel, { toFile } from '@onkernel/sdk';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ManagedAuth } from '../../contract/connections.ts';
import type { TypingState } from '../../store/queries/typing-ledger.ts';
import type { Store } from '../../store/store.ts';
import { newPerson, personFor, type Person } from './person.ts';
import { createPractice, type Practice } from './practice.ts';
import { programArchive } from './program-archive.ts';
import { startProcessTree, type ProcessTree, type Role } from './process-tree.ts';
import { waitFor } from './until.ts';

/** Longest that a flow may take to ask again or to end after a kill, on a busy machine with two cores. */
export const RECOVERS_WITHIN_MS = 120_000;
/** Many keys take long enough to be killed among them: seconds, where a kill comes within a tenth of one. */
export const LONG_PASSWORD = 'many keys '.repeat(60).trim();

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

/** A tree in which parts are killed, and the moments at which to kill them. */
export interface KillSteps {
  tree: ProcessTree;
  practice: Practice;
  kernel: Kernel;
  /** Kills a part and waits until it is back. */
  killed(role: Role): Promise<void>;
  /** Kills everything and starts it again; the site then counts passwords anew. */
  killedAll(): Promise<void>;
  /** Somebody whose login has begun. */
  begun(page?: string): Promise<Person>;
  /** Answers what was asked last with a password, and waits until the ledger says one of these of it: the very moment at which to kill. */
  givenUntil(person: Person, values: Answer, states: TypingState[]): Promise<void>;
  /**
   * Answers what was asked last, and waits until the site has the password; its answers are slow from then on. A stalled machine
   * may give an entering up before the press: what is asked again is answered again. Answers how often that was.
   */
  givenSlowly(person: Person, values: Answer): Promise<number>;
  /** The site saw no more passwords of a user, since it was looked at last, than were given. Answers how many. */
  typedAtMost(user: string, given: number): Promise<number>;
  /**
   * Answers whatever is asked until the login is done, and shows what must hold then: nothing is lost, and the site saw no
   * more passwords than answers. `given`: answers with a password that were given before.
   */
  finishes(person: Person, user: string, password?: string, given?: number): Promise<void>;
  /** No browser is left but the one that waits for a session. */
  untilBrowsersEnded(): Promise<void>;
  /** Runs an action that stays for good twice, without another try and with one, and waits until each has its browser. */
  invoked(): Promise<Invoked>;
}

/** What is typed into a form. */
type Answer = { identifier: string; password: string };

/** Two invocations, of which the second is tried again. */
export interface Invoked {
  /** Waits for what comes of a lost worker: one ends with that reason, the other runs again; and no browser is left. */
  recovers(): Promise<void>;
}

/** Starts a tree for the tests of a file; asked for within them. */
export function setUpKillSteps(): () => KillSteps {
  let steps: KillSteps;
  let end = (): Promise<void> => Promise.resolve();
  beforeAll(async () => {
    const tree = await startProcessTree();
    const store = await tree.openStore();
    end = async () => {
      await store.close();
      await tree.remove();
    };
    steps = createKillSteps(tree, store);
  }, 300_000);
  afterAll(() => end(), 90_000);
  return () => steps;
}

function createKillSteps(tree: ProcessTree, store: Store): KillSteps {
  const practice = createPractice(tree.sandboxUrl);
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, maxRetries: 5 });
  const passwordsBefore = new Map<string, number>();

  async function typedAtMost(user: string, given: number): Promise<number> {
    const { passwords } = await practice.counts(user);
    const typed = passwords - (passwordsBefore.get(user) ?? 0);
    passwordsBefore.set(user, passwords);
    expect(typed).toBeLessThanOrEqual(given);
    return typed;
  }

  async function untilLedgerSays({ id }: Person, interactionId: string, states: TypingState[]): Promise<void> {
    const row = await store.connections.byIdUnscoped(id);
    const flowId = row?.document.flow?.flow_id ?? '';
    await waitFor(
      async () => {
        const entry = await store.typingLedger.read(flowId, interactionId);
        return entry !== null && states.includes(entry.state) ? entry : null;
      },
      RECOVERS_WITHIN_MS,
      `the ledger to say ${states.join(' or ')}`,
      10,
    );
  }

  return {
    tree,
    practice,
    kernel,
    typedAtMost,
    async killed(role) {
      const from = tree.output().length;
      await tree.kill(role);
      const again = `${role} is ready again`;
      await waitFor(() => Promise.resolve(tree.output().includes(again, from) || null), RECOVERS_WITHIN_MS, again);
      await tree.untilHealthy(RECOVERS_WITHIN_MS);
    },
    async killedAll() {
      await tree.kill('supervisor');
      await tree.start();
      passwordsBefore.clear();
    },
    async begun(page = '/login') {
      const person = await newPerson({ kernel, practice }, { login_url: practice.page(page) });
      await person.login();
      return person;
    },
    async givenUntil(person, values, states) {
      const { interaction_id: interaction } = await person.read();
      await person.answer(values);
      await untilLedgerSays(person, interaction ?? '', states);
    },
    async givenSlowly(person, values) {
      const { passwords } = await practice.counts(values.identifier);
      await practice.setMode('slow');
      let answered = await person.read();
      await person.answer(values);
      let given = 1;
      await waitFor(
        async () => {
          if ((await practice.counts(values.identifier)).passwords > passwords) return true;
          const now = await person.read();
          if (now.flow_status !== 'IN_PROGRESS')
            throw new Error(`the flow ended before the site had the password: ${String(now.error_code)}`);
          if (now.flow_step !== 'AWAITING_INPUT' || now.interaction_id === answered.interaction_id) return null;
          answered = await person.waitForInput();
          await person.answer(values);
          given += 1;
          return null;
        },
        RECOVERS_WITHIN_MS,
        'the site to have the password',
        50,
      );
      return given;
    },
    async finishes({ id }, user, password, given = 0) {
      // Somebody who has seen no pause yet: one that still waits is answered as it is.
      const person = personFor(kernel, id);
      const values = { identifier: practice.user(user).email, password: password ?? practice.user(user).password };
      let answers = given;
      for (;;) {
        const now = await asksOrEnds(person);
        if (now.flow_status !== 'IN_PROGRESS') break;
        const pause = await person.waitForInput();
        const types = new Set(pause.fields?.map(({ type }) => type));
        if (types.has('password')) answers += 1;
        const wanted = Object.entries(values).filter(([type]) => [...types].some((each) => each === type));
        await person.answer(Object.fromEntries(wanted));
      }
      const end = await person.waitForSuccess();
      expect(end.status).toBe('AUTHENTICATED');
      expect(await typedAtMost(user, answers)).toBeGreaterThanOrEqual(1);
      const name = end.credential?.name ?? '';
      expect((await kernel.credentials.retrieve(name)).has_values).toBe(true);
      expect((await kernel.profiles.retrieve(end.profile_name)).name).toBe(end.profile_name);
    },
    async untilBrowsersEnded() {
      const left = await waitFor(
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
    invoked: () => invoked(kernel),
  };
}

async function invoked(kernel: Kernel): Promise<Invoked> {
  const file = await toFile(await programArchive({ 'index.mjs': STAYS_ONCE }), 'program.zip');
  const { id: deployment } = await kernel.deployments.create({ entrypoint_rel_path: 'index.mjs', file });
  await waitFor(
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
    await waitFor(
      async () => (await kernel.invocations.listBrowsers(id)).browsers.length > 0 || null,
      RECOVERS_WITHIN_MS,
      'its browser',
    );
  }
  return {
    async recovers() {
      const ends = await Promise.all(
        made.map(({ id }) =>
          waitFor(
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
        await waitFor(
          async () => (await kernel.invocations.listBrowsers(id)).browsers.length === 0 || null,
          RECOVERS_WITHIN_MS,
          'no browser to be left',
        );
      }
    },
  };
}

function asksOrEnds(person: Person): Promise<ManagedAuth> {
  return waitFor(
    async () => {
      const now = await person.read().catch(() => null);
      if (now === null) return null;
      return now.flow_status !== 'IN_PROGRESS' || now.flow_step === 'AWAITING_INPUT' ? now : null;
    },
    RECOVERS_WITHIN_MS,
    `${person.id} to ask or to end`,
  );
}
