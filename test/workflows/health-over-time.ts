import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import { workflowIdOf } from '../../client/identity.ts';
import type { StartMode } from '../../workflows/connection/state.ts';
import type { authConnection as entity } from '../../workflows/index.ts';
import { WORKFLOWS } from '../../workflows/messages.ts';
import { settings, startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, STORED, until } from './scenarios.ts';
import { REQUEST_CHECK } from './scripted-world.ts';

const HOUR_MS = 3_600_000;
const HOURS_AT_ONCE = 4;
const CHECKS_A_WEEK = 7 * 24;
const AUTHENTICATED = { outcome: 'authenticated', errorCode: null, credential: null } as const;
const EXPIRED = { outcome: 'expired', errorCode: 'session_expired', credential: null } as const;
/** One in this many connections is checked in a browser. */
const ONE_BY_BROWSER_IN = 10;
/** A year and a thousand connections take a while on a busy machine. */
const HANG_MS = 3_600_000;
/** Activities take real time, which passes between two checks in addition to skipped time. */
const SLACK_MS = 120_000;

/** Skips weeks for one connection and hours for many, with real entities and flows on a scripted world. */
export function testHealthOverTime({
  weeks,
  connections,
  hours,
  everyHours,
}: Record<'weeks' | 'connections' | 'hours' | 'everyHours', number>): void {
  let tests: WorkflowTests;

  beforeAll(async () => {
    tests = await startWorkflowTests('time-skipping', { checks: 50 });
  });
  afterAll(() => tests.close());

  it(
    `keeps a connection logged in for ${String(weeks)} weeks whose session ends every week`,
    async () => {
      const { world } = tests;
      world.credential = STORED;
      world.learns = true;
      // In the middle, so that no login is in progress at the end.
      const half = Array.from({ length: CHECKS_A_WEEK / 2 }, () => AUTHENTICATED);
      const week = [...half, EXPIRED, ...half.slice(1)];
      world.health = [...Array.from({ length: weeks }, () => week).flat(), AUTHENTICATED];
      const id = await tests.create({ credential: { name: 'saved' } });
      await tests.client.login(id);
      await until(tests, id, ended);

      const began = now();
      await passHours(tests, weeks * CHECKS_A_WEEK);
      tell(`${String(weeks)} weeks of hourly checks`, world.checks, began);

      const events = eventsOf(tests);
      // A login does not shift the schedule. The last check may be due just after the end.
      expect(world.checks).toBeGreaterThanOrEqual(weeks * CHECKS_A_WEEK - 1);
      expect(world.checks).toBeLessThanOrEqual(weeks * CHECKS_A_WEEK + 1);
      expect(events.filter(({ type }) => type === 'health_check')).toHaveLength(world.checks);
      // A browser checks expired sessions and finds a request again after the login that follows.
      expect(world.checks - world.quickly).toBe(1 + 2 * weeks);
      const expired = events.filter(({ error_code: code }) => code === 'session_expired');
      expect(expired).toHaveLength(weeks);
      const reauths = events.filter(({ type }) => type === 'reauth');
      expect(reauths.map(({ status }) => status)).toEqual(expired.map(() => 'SUCCESS'));
      expect(world.entered).toHaveLength(1 + reauths.length);
      expect(events.filter(({ status }) => status === 'IN_PROGRESS')).toEqual([]);
      expect(world.rows.get(id)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: true });
      await tests.removeAll();
      tests.reset();
    },
    HANG_MS,
  );

  it(
    `checks ${String(connections)} connections for ${String(hours)} hours, each once in ${String(everyHours)}, and no two in one second`,
    async () => {
      const { world } = tests;
      for (let number = 0; number < connections; number += 1) await startLoggedIn(tests, number, everyHours);
      const began = now();
      await passHours(tests, hours);
      tell(`${String(connections)} connections for ${String(hours)} hours`, world.checks, began);

      const checked = checkTimesOf(tests);
      const times = [...checked.values()];
      const quickly = [...checked].filter(([id]) => !looksInBrowser(id)).flatMap(([, each]) => each);
      expect(world.quickly).toBe(quickly.length);
      expect(world.checksBegun).toBe(world.checks - quickly.length);
      expect(times.map((each) => each.length).reduce((sum, count) => sum + count, 0)).toBe(world.checks);
      expect(times).toHaveLength(connections);
      const gaps = times.flatMap((each) => each.slice(1).map((at, index) => at - (each[index] ?? at)));
      // Neither twice in an interval nor skipped, from the first check on.
      const interval = everyHours * HOUR_MS;
      for (const each of times) expect(each.length).toBeGreaterThanOrEqual(Math.floor(hours / everyHours - 0.1));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(interval - SLACK_MS);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(interval + SLACK_MS);
      expect(sharedSeconds(times.flat())).toEqual([]);
    },
    HANG_MS,
  );
}

/**
 * Skips hours, a few at a time: between two runs of an entity the server sees no timer of it, and would skip to the end of a
 * long sleep.
 */
async function passHours({ env }: WorkflowTests, hours: number): Promise<void> {
  for (let left = hours; left > 0; left -= HOURS_AT_ONCE) await env.sleep(Math.min(left, HOURS_AT_ONCE) * HOUR_MS);
}

/**
 * Starts the entity of a connection that has been logged in. Most are in a later run and know a check request; some restart
 * after their workflow was lost, and use a browser.
 */
async function startLoggedIn({ env, world }: WorkflowTests, number: number, everyHours: number): Promise<void> {
  const id = manyId(number);
  const document: ConnectionDocument = {
    ...{ schema_version: 1, id, organization_id: 'org_default', project_id: 'prj_default', revision: 1 },
    created_at: new Date(0).toISOString(),
    settings: settings({ profile_name: `many-${String(number)}`, health_check_interval: everyHours * 3600 }),
    status: 'AUTHENTICATED',
    post_login_url: null,
    can_reauth: false,
    can_reauth_reason: 'no_credential',
    last_auth_check_at: null,
    flow: null,
  };
  world.rows.set(id, document);
  await env.client.workflow.start<typeof entity>(WORKFLOWS.connection, {
    workflowId: workflowIdOf(id),
    taskQueue: 'test',
    args: [{ schemaVersion: 2, begin: looksInBrowser(id) ? { how: 'again', document } : laterRun(document) }],
  });
}

function manyId(number: number): string {
  return `conn_many${number % ONE_BY_BROWSER_IN === 0 ? '_browser' : ''}${String(number)}`;
}

function looksInBrowser(id: string): boolean {
  return id.includes('_browser');
}

function laterRun(document: ConnectionDocument): StartMode {
  return {
    how: 'carried',
    state: {
      document: { ...document, request_check: REQUEST_CHECK },
      hadLogin: true,
      credential: null,
      appliedSubmissions: [],
      lastLoginId: null,
      loginPageUrl: null,
      nextCheckAt: null,
      pendingTimeline: [],
      quickChecks: true,
      watches: true,
      credentialStale: false,
      requestedFlow: null,
      running: null,
    },
  };
}

function eventsOf({ world }: WorkflowTests): TimelineEvent[] {
  return [...world.timeline.values()];
}

/** When each connection was checked, in milliseconds of skipped time, in order. */
function checkTimesOf({ world }: WorkflowTests): Map<string, number[]> {
  const times = new Map<string, Set<string>>();
  for (const { id, last_auth_check_at: at } of world.states) {
    if (at !== null) times.set(id, (times.get(id) ?? new Set()).add(at));
  }
  return new Map([...times].map(([id, each]) => [id, [...each].map((at) => Date.parse(at)).toSorted((a, b) => a - b)]));
}

/** Seconds with more than one check. */
function sharedSeconds(times: readonly number[]): number[] {
  const seconds = times.map((at) => Math.floor(at / 1000));
  const seen = new Set<number>();
  return seconds.filter((second) => seen.has(second) || !seen.add(second));
}

/** Milliseconds of the clock, and of processor time of this process: with the worker, without the server. */
function now(): { clock: number; processor: number } {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), processor: (user + system) / 1000 };
}

/** A figure for readers: it depends on the machine, so nothing is asserted about it. */
function tell(what: string, checks: number, began: ReturnType<typeof now>): void {
  const { clock, processor } = now();
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
  const took = `${seconds(clock - began.clock)}, ${seconds(processor - began.processor)} of processor time in the worker`;
  process.stdout.write(`${what}: ${String(checks)} checks in ${took}\n`);
}
