import { randomInt } from 'node:crypto';
import Kernel from '@onkernel/sdk';
import { z } from 'zod';
import { newPerson, personFor, type Person } from '../test/e2e/person.ts';
import { createPractice, type Practice } from '../test/e2e/practice.ts';
import type { ProcessTree, Role } from '../test/e2e/process-tree.ts';
import { waitFor } from '../test/e2e/until.ts';
import type { Figure } from './figure.ts';

const FLOWS = 100;
const KILLS = 50;
const AT_ONCE = 3;
const ROLES: readonly Role[] = ['worker', 'worker', 'browser', 'browser', 'api', 'store', 'temporal'];
/** Delays between kills, in milliseconds: from part of a step to a whole login. */
const [MIN_DELAY_MS, MAX_DELAY_MS] = [500, 6_000];
const ENDS_WITHIN_MS = 180_000;
const USERS = [
  ['alice', '/login'],
  ['bob', '/login/two-step'],
  ['erin', '/login/late'],
  ['frank', '/login'],
] as const;

interface Tally {
  succeeded: number;
  /** Interactions answered with a password; each counts once, however often the answer was sent. */
  answers: number;
  lost: string[];
}

const Existing = z.object({ error: z.object({ existing_id: z.string() }) });

/**
 * Logs in, answering at once, while processes of the tree are killed at random. No flow may be lost, and the site may not see
 * more passwords than were submitted. Takes too long to run by default.
 */
export async function measureKills(tree: ProcessTree): Promise<Figure[]> {
  const practice = createPractice(tree.sandboxUrl);
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, maxRetries: 8 });
  const tally: Tally = { succeeded: 0, answers: 0, lost: [] };
  const kills = new Map<Role, number>();
  const state = { isDone: false };
  const killing = killAtRandom(tree, kills, state);
  let begun = 0;
  const person = async (): Promise<void> => {
    while (begun < FLOWS || totalOf(kills) < KILLS) {
      const [user, page] = USERS[begun++ % USERS.length] ?? USERS[0];
      await logIn({ kernel, practice }, user, page, tally);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, person));
  state.isDone = true;
  await killing;
  const seen = await Promise.all(USERS.map(([user]) => practice.counts(user)));
  const passwords = seen.reduce((sum, each) => sum + each.passwords, 0);
  const byRole = [...kills].map(([role, count]) => `${role} ${count}`).join(', ');
  return [
    { name: `\`kill -9\` of a process, logins meanwhile`, value: `${totalOf(kills)} (${byRole}), ${begun} logins` },
    { name: 'Logins lost to kills', value: `${tally.lost.length}${detailsOf(tally.lost)}`, aim: '0' },
    {
      name: 'Passwords that the site saw, and that were given',
      value: `${passwords} of ${tally.answers}`,
      aim: 'no more',
    },
  ];
}

async function logIn(
  at: { kernel: Kernel; practice: Practice },
  user: string,
  page: string,
  tally: Tally,
): Promise<void> {
  const { email, password } = at.practice.user(user);
  const values: Record<string, string> = { identifier: email, password };
  const answered = new Set<string>();
  // If the API was killed after it stored the connection, the repeated call fails with its id.
  const person = await newPerson(at, { login_url: at.practice.page(page), health_checks: false }).catch(
    (error: unknown) => personFor(at.kernel, Existing.parse(error).error.existing_id),
  );
  // Likewise, the login may have started already.
  await person.login().catch((error: unknown) => {
    if (!(error instanceof Kernel.ConflictError)) throw error;
  });
  try {
    for (;;) {
      const now = await waitForInputOrEnd(person.id, at.kernel);
      if (now.flow_status === 'SUCCESS') break;
      if (now.flow_status !== 'IN_PROGRESS') throw new Error(`${String(now.flow_status)} ${String(now.error_code)}`);
      const types = (now.fields ?? []).map(({ type }) => type);
      const field_values = Object.fromEntries(
        (now.fields ?? []).flatMap(({ id, type }) => (values[type] === undefined ? [] : [[id, values[type]]])),
      );
      const answer = { interaction_id: now.interaction_id ?? '', field_values };
      if (types.includes('password')) answered.add(answer.interaction_id);
      // Rejected if the interaction is no longer pending; the next read shows the current one.
      await at.kernel.auth.connections.submit(person.id, answer).catch((error: unknown) => {
        if (!(error instanceof Kernel.APIError)) throw error;
      });
    }
    tally.succeeded += 1;
  } catch (error) {
    tally.lost.push(`${person.id}: ${error instanceof Error ? error.message : 'unknown'}`);
  }
  tally.answers += answered.size;
}

function waitForInputOrEnd(id: string, kernel: Kernel): ReturnType<Person['read']> {
  return waitFor(
    async () => {
      const now = await personFor(kernel, id)
        .read()
        .catch(() => null);
      if (now === null) return null;
      return now.flow_status !== 'IN_PROGRESS' || now.flow_step === 'AWAITING_INPUT' ? now : null;
    },
    ENDS_WITHIN_MS,
    `${id} to await input or end`,
  );
}

async function killAtRandom(tree: ProcessTree, kills: Map<Role, number>, state: { isDone: boolean }): Promise<void> {
  while (!state.isDone && totalOf(kills) < KILLS) {
    await new Promise((resolve) => setTimeout(resolve, randomInt(MIN_DELAY_MS, MAX_DELAY_MS)));
    const role = ROLES[randomInt(ROLES.length)] ?? 'worker';
    await tree.kill(role);
    kills.set(role, (kills.get(role) ?? 0) + 1);
    await tree.untilHealthy(120_000);
  }
}

function totalOf(kills: Map<Role, number>): number {
  return [...kills.values()].reduce((sum, count) => sum + count, 0);
}

function detailsOf(lost: readonly string[]): string {
  return lost.length === 0 ? '' : ` (${lost.join('; ')})`;
}
