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

/** Timeout for a flow to await input or end after a kill, on a busy machine with two cores. */
export const RECOVERS_WITHIN_MS = 120_000;
/** Typing it takes seconds, so that a kill hits it. */
export const LONG_PASSWORD = 'many keys '.repeat(60).trim();

/** Its action hangs in the first run, holding a browser with the name that the next run wants. */
const HANGS_ONCE = `
import Kernel from '@onkernel/sdk';
const kernel = new Kernel();
kernel.app('hangs').action('once', async (context, { name }) => {
  const isFirst = await kernel.profiles.create({ name }).then(() => true, () => false);
  await kernel.browsers.create({ name, headless: true });
  if (!isFirst) return 'again';
  await new Promise(() => setInterval(() => undefined, 1000));
});
`;

/** A process tree, and steps that bring a login to the moment of a kill. */
export interface KillSteps {
  tree: ProcessTree;
  practice: Practice;
  kernel: Kernel;
  /** Kills a role and waits until it is ready again. */
  killRole(role: Role): Promise<void>;
  /** Kills everything and starts it again, which resets the site's password counts. */
  killAll(): Promise<void>;
  /** Starts a login. */
  startLogin(page?: string): Promise<Person>;
  /** Answers with a password and waits until the typing ledger has one of the states, the moment to kill. */
  answerUntilTyping(person: Person, values: Answer, states: TypingState[]): Promise<void>;
  /**
   * Makes the site slow, answers, and waits until the site has received the password. On a stalled machine the entry may be
   * abandoned before the submit; the repeated interaction is then answered again. Returns the number of answers.
   */
  answerSlowly(person: Person, values: Answer): Promise<number>;
  /** Expects at most `given` passwords of a user since the last call; returns their number. */
  expectPasswordsAtMost(user: string, given: number): Promise<number>;
  /**
   * Answers every interaction until the login succeeds, and expects that nothing is lost and that the site saw no more passwords
   * than answers. `given`: earlier answers with a password.
   */
  finishLogin(person: Person, user: string, password?: string, given?: number): Promise<void>;
  /** Waits until only the warm browser is left. */
  waitForBrowsersToEnd(): Promise<void>;
  /** Invokes a hanging action twice, without and with a retry, and waits until each has its browser. */
  startInvocations(): Promise<Invocations>;
}

type Answer = { identifier: string; password: string };

/** Two invocations, of which the second is retried. */
export interface Invocations {
  /** Expects the first to fail because its worker was lost, the second to succeed on its retry, and no browser to be left. */
  expectRecovery(): Promise<void>;
}

/** Starts a tree for a test file; call the result inside tests. */
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

  async function expectPasswordsAtMost(user: string, given: number): Promise<number> {
    const { passwords } = await practice.counts(user);
    const typed = passwords - (passwordsBefore.get(user) ?? 0);
    passwordsBefore.set(user, passwords);
    expect(typed).toBeLessThanOrEqual(given);
    return typed;
  }

  async function waitForTypingState({ id }: Person, interactionId: string, states: TypingState[]): Promise<void> {
    const row = await store.connections.byIdUnscoped(id);
    const flowId = row?.document.flow?.flow_id ?? '';
    await waitFor(
      async () => {
        const entry = await store.typingLedger.read(flowId, interactionId);
        return entry !== null && states.includes(entry.state) ? entry : null;
      },
      RECOVERS_WITHIN_MS,
      `the typing ledger to be ${states.join(' or ')}`,
      10,
    );
  }

  return {
    tree,
    practice,
    kernel,
    expectPasswordsAtMost,
    async killRole(role) {
      const from = tree.output().length;
      await tree.kill(role);
      const again = `${role} is ready again`;
      await waitFor(() => Promise.resolve(tree.output().includes(again, from) || null), RECOVERS_WITHIN_MS, again);
      await tree.untilHealthy(RECOVERS_WITHIN_MS);
    },
    async killAll() {
      await tree.kill('supervisor');
      await tree.start();
      passwordsBefore.clear();
    },
    async startLogin(page = '/login') {
      const person = await newPerson({ kernel, practice }, { login_url: practice.page(page) });
      await person.login();
      return person;
    },
    async answerUntilTyping(person, values, states) {
      const { interaction_id: interaction } = await person.read();
      await person.answer(values);
      await waitForTypingState(person, interaction ?? '', states);
    },
    async answerSlowly(person, values) {
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
    async finishLogin({ id }, user, password, given = 0) {
      // A new person has seen no interaction yet, so that the pending one is answered.
      const person = personFor(kernel, id);
      const values = { identifier: practice.user(user).email, password: password ?? practice.user(user).password };
      let answers = given;
      for (;;) {
        const now = await waitForInputOrEnd(person);
        if (now.flow_status !== 'IN_PROGRESS') break;
        const pause = await person.waitForInput();
        const types = new Set(pause.fields?.map(({ type }) => type));
        if (types.has('password')) answers += 1;
        const wanted = Object.entries(values).filter(([type]) => [...types].some((each) => each === type));
        await person.answer(Object.fromEntries(wanted));
      }
      const end = await person.waitForSuccess();
      expect(end.status).toBe('AUTHENTICATED');
      expect(await expectPasswordsAtMost(user, answers)).toBeGreaterThanOrEqual(1);
      const name = end.credential?.name ?? '';
      expect((await kernel.credentials.retrieve(name)).has_values).toBe(true);
      expect((await kernel.profiles.retrieve(end.profile_name)).name).toBe(end.profile_name);
    },
    async waitForBrowsersToEnd() {
      const left = await waitFor(
        async () => {
          const [chromiums, folders] = [
            await tree.chromiums(),
            await readdir(join(tree.dataDir, 'browsers', 'sessions')),
          ];
          return chromiums.length <= 1 && folders.length <= 1 ? folders : null;
        },
        RECOVERS_WITHIN_MS,
        'only the warm browser to be left',
      );
      expect(left.every((name) => name.startsWith('warm-'))).toBe(true);
    },
    startInvocations: () => startInvocations(kernel),
  };
}

async function startInvocations(kernel: Kernel): Promise<Invocations> {
  const file = await toFile(await programArchive({ 'index.mjs': HANGS_ONCE }), 'program.zip');
  const { id: deployment } = await kernel.deployments.create({ entrypoint_rel_path: 'index.mjs', file });
  await waitFor(
    async () => (await kernel.deployments.retrieve(deployment)).status === 'running' || null,
    RECOVERS_WITHIN_MS,
    'the program to be built',
  );
  const invoke = (name: string, retries: number) =>
    kernel.post<{ id: string }>('/invocations', {
      body: {
        ...{ app_name: 'hangs', action_name: 'once', version: 'latest', async: true, retries },
        payload: JSON.stringify({ name: `${name}-${randomUUID()}` }),
      },
    });
  const made = [await invoke('tried-once', 0), await invoke('tried-twice', 1)];
  for (const { id } of made) {
    await waitFor(
      async () => (await kernel.invocations.listBrowsers(id)).browsers.length > 0 || null,
      RECOVERS_WITHIN_MS,
      'the browser of the invocation',
    );
  }
  return {
    async expectRecovery() {
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

function waitForInputOrEnd(person: Person): Promise<ManagedAuth> {
  return waitFor(
    async () => {
      const now = await person.read().catch(() => null);
      if (now === null) return null;
      return now.flow_status !== 'IN_PROGRESS' || now.flow_step === 'AWAITING_INPUT' ? now : null;
    },
    RECOVERS_WITHIN_MS,
    `${person.id} to await input or end`,
  );
}
