import { say } from '../start/terminal.ts';
import type { AuditLogRequest } from '../store/queries/audit-log.ts';
import { DEFAULT_ORGANIZATION_ID, type Store } from '../store/store.ts';
import { ONE_SESSION } from './audit-log-rows.ts';
import { median, type Figure } from './figure.ts';

const DAY_MS = 86_400_000;
const RUNS = 15;
/** Runs of each pair, of which there are several hundred. */
const RUNS_PER_PAIR = 5;
const AIM_MS = 50;

type Filters = Partial<AuditLogRequest>;

/** Filters, measured alone and in pairs of different kinds. */
export const FILTERS: [string, Filters][] = [
  ['`method` common', { method: 'GET' }],
  ['`method` rare', { method: 'PUT' }],
  ['`method` without a row', { method: 'HEAD' }],
  ['`exclude_method`, rare rows left', { exclude_method: ['GET', 'POST', 'PATCH', 'DELETE'] }],
  ['`exclude_method`, most rows left', { exclude_method: ['DELETE'] }],
  ['`search_user_id` common', { search_user_id: ['usr_1'] }],
  ['`search_user_id` rare', { search_user_id: ['usr_rare'] }],
  ['`search_user_id` without a row', { search_user_id: ['usr_none'] }],
  ['`auth_strategy` common', { auth_strategy: 'api_key' }],
  ['`auth_strategy` rare', { auth_strategy: 'code_token' }],
  ['`service=browser`', { service: 'browser' }],
  ['`service=api`', { service: 'api' }],
  ['`search` of a common part of a path', { search: '/auth/connections' }],
  ['`search` of a part of the paths of half the projects', { search: '/submit' }],
  ['`search` of one session', { search: ONE_SESSION }],
  ['`search` of an address', { search: '203.0.113.77' }],
  ['`search` of an address like others, without a row', { search: '10.11.12.130' }],
  ['`search` of an e-mail', { search: 'rare@example.com' }],
  ['`search` of a status', { search: '429' }],
  ['`search` without a row', { search: '/nowhere-at-all' }],
  ['`search` of words that rows have in another order', { search: '/connections/submit' }],
];
export const SCOPES: [string, string | null][] = [
  ['all projects', null],
  ['a project of many rows', 'prj_1'],
  ['another', 'prj_2'],
  ['a project of few rows', 'prj_rare'],
  ['a project without a row', 'prj_none'],
];

/** Measures pages of the last 30 days: each filter alone, and all pairs of filters in each scope. */
export async function measurePages(store: Store, count: number): Promise<Figure[]> {
  const end = new Date();
  const days = { start: new Date(end.getTime() - 30 * DAY_MS), end };
  const older = { start: new Date(end.getTime() - 200 * DAY_MS), end: new Date(end.getTime() - 170 * DAY_MS) };
  const whole = { organizationId: DEFAULT_ORGANIZATION_ID, projectId: null };
  const page = async (projectId: string | null, filters: Filters) => {
    const began = performance.now();
    const { rows } = await store.auditLog.page({ ...whole, projectId }, { ...days, limit: 100, ...filters });
    return { took: performance.now() - began, found: rows.length };
  };
  const { next } = await store.auditLog.page(whole, { ...days, limit: 100 });
  const alone: [string, Filters, (string | null)?][] = [
    ['first page', {}],
    ['page after a token', { after: next ?? '' }],
    ['30 days of half a year ago', older],
    ...FILTERS,
    ['`search` without a row, half a year ago', { ...older, search: '/nowhere-at-all' }],
    ['`search` or a user', { search: '/nowhere-at-all', search_user_id: ['usr_rare'] }],
    ['a project of many rows', {}, 'prj_1'],
    ['a project of few rows', {}, 'prj_rare'],
    ['a project, `method` and `search`', { method: 'POST', search: '/submit' }, 'prj_2'],
    ['the same, where only other projects have a row', { method: 'POST', search: '/submit' }, 'prj_1'],
  ];
  const figures: Figure[] = [];
  const add = (name: string, value: string): void => {
    say(`${name}: ${value}`);
    figures.push({
      name: `Audit log of ${count.toLocaleString('en')} rows, 30 days: ${name}`,
      value,
      aim: `within ${AIM_MS} ms`,
    });
  };
  for (const [name, filters, projectId = null] of alone) {
    const answers = [];
    for (let time = 0; time < RUNS; time += 1) answers.push(await page(projectId, filters));
    const times = answers.map(({ took }) => took);
    const first = times[0]?.toFixed(1);
    add(
      name,
      `${median(times).toFixed(1)} ms (first ${first}, at most ${Math.max(...times).toFixed(1)}, n=${RUNS}; ${answers[0]?.found} rows)`,
    );
  }

  const pairs: { name: string; took: number; first: number }[] = [];
  for (const [scopeName, projectId] of SCOPES)
    for (const [name, filters] of pairsOf(FILTERS)) {
      const times: number[] = [];
      for (let time = 0; time < RUNS_PER_PAIR; time += 1) times.push((await page(projectId, filters)).took);
      pairs.push({ name: `${name}, ${scopeName}`, took: median(times), first: times[0] ?? 0 });
    }
  const slowest = pairs.toSorted((one, other) => other.took - one.took);
  const late = slowest.filter(({ took }) => took > AIM_MS).length;
  add(
    `each of ${pairs.length} pairs of filters and scopes`,
    `${late} of them above ${AIM_MS} ms (medians, n=${RUNS_PER_PAIR}), the middle one ${median(pairs.map(({ took }) => took)).toFixed(1)} ms`,
  );
  for (const { name, took, first } of slowest.slice(0, 5))
    add(`among the slowest of these: ${name}`, `${took.toFixed(1)} ms (first ${first.toFixed(1)})`);
  return figures;
}

export function pairsOf(filters: typeof FILTERS): [string, Filters][] {
  return filters.flatMap(([name, one], index) =>
    filters
      .slice(index)
      .flatMap(([otherName, other]): [string, Filters][] =>
        one === other
          ? [[name, one]]
          : Object.keys(one).some((key) => key in other)
            ? []
            : [[`${name} and ${otherName}`, { ...one, ...other }]],
      ),
  );
}
