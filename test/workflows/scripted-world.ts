import { ApplicationFailure } from '@temporalio/common';
import type {
  CredentialFacts,
  EnterInput,
  EntryReach,
  HealthOutcome,
  LoginActivities,
  Observation,
  OpenLinkInput,
  RecordActivities,
} from '../../contract/activities.ts';
import type { QuickCheckActivities } from '../../contract/watched-checks.ts';
import { createQuickCheck } from '../../activities/login/checks/quick-check.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, RequestCheck } from '../../contract/document.ts';
import type { PageReading, ReadChoice, ReadField } from '../../contract/reading.ts';

/** A page as read by the reader; tests only name what matters. */
export function page(kind: PageReading['kind'], more: Partial<PageReading> = {}): PageReading {
  return {
    url: 'https://site.example/login',
    kind,
    title: '',
    fields: [],
    submit: { selector: '#go', frame: [] },
    choices: [],
    website_error: null,
    external_action_message: null,
    sign_in_link: null,
    ...more,
  };
}

/** A field of such a page. */
export function field(type: ReadField['type'], name: string, more: Partial<ReadField> = {}): ReadField {
  return {
    type,
    discovered_type: type === 'password' ? 'password' : 'text',
    name,
    label: name,
    selector: `#${name}`,
    placeholder: null,
    hint: null,
    required: true,
    frame: [],
    boxes: 1,
    ...more,
  };
}

/** A choice of such a page. */
export function choice(type: ReadChoice['type'], label: string, more: Partial<ReadChoice> = {}): ReadChoice {
  return { type, label, selector: '#c', xpath: '//a', masked_destination: null, description: null, frame: [], ...more };
}

export const LOGIN_PAGE = page('form', { fields: [field('identifier', 'user'), field('password', 'password')] });
export const CODE_PAGE = page('form', {
  fields: [field('code', 'code', { label: 'Code we texted you', channel: 'sms' })],
});
export const INSIDE = page('logged_in', { url: 'https://site.example/account' });

/** A request that distinguishes a session of the site from none. */
export const REQUEST_CHECK: RequestCheck = {
  url: 'https://site.example/account',
  headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0' },
  signedIn: { status: 200, location: null, marks: ['a', 'b', 'c'] },
  signedOut: { status: 303, location: 'https://site.example/login', marks: [] },
};

/** A failure like an activity's. */
export function fault(type: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: type, nonRetryable: true });
}

/** The world that a workflow under test acts on: what the site shows next, and what was recorded. */
export interface ScriptedWorld {
  browsing: LoginActivities;
  records: RecordActivities;
  quickChecks: QuickCheckActivities;
  /** Results of discovery; the last one repeats. */
  discovered: (PageReading | ApplicationFailure)[];
  /** The site's responses to entries; the last one repeats. */
  answers: (PageReading | ApplicationFailure)[];
  /** What a reading without an entry shows. */
  shown: PageReading;
  /** How far a lost entry got. */
  reach: EntryReach;
  /** How often a page was opened again before it was read. */
  reopened: number;
  abandoned: string[];
  health: HealthOutcome[];
  credential: CredentialFacts | null;
  entered: EnterInput[];
  linksOpened: OpenLinkInput[];
  /** The failure of a successful login's final step. */
  finishFault: ApplicationFailure | null;
  /** Calls to the captcha solver; null if it takes no task. */
  solver: string[] | null;
  /** The pages after the solver's answer; without any, the solver never finishes. */
  solutions: PageReading[];
  /** Whether the captchas can be given to a solver. */
  solvable: boolean;
  /** Whether captchas beside the fields are unanswered; `until_solved`: until a solver answers. */
  unproved: boolean | 'until_solved';
  /** Pictures of captcha fields, by field name. */
  pictures: Record<string, string>;
  sessions: string[];
  recorderWorks: boolean;
  /** While set, every write of a state fails with it. */
  storeFault: ApplicationFailure | null;
  /** Attempted writes of states. */
  writes: number;
  /** Health checks end only once it has settled; `checksBegun` also counts running ones. */
  holdChecks: Promise<void>;
  checksBegun: number;
  closed: (string | null)[];
  checks: number;
  /** Whether a request can check sessions of this site; `quickly` counts checks made by it alone. */
  learns: boolean;
  quickly: number;
  rows: Map<string, ConnectionDocument>;
  states: ConnectionDocument[];
  timeline: Map<string, TimelineEvent>;
  /** Slots of the check schedule, as interval and connection: the index is the slot. */
  slots: string[];
}

/** Takes the next item of a script; the last one repeats. */
function next<Item>(script: Item[]): Item {
  const item = script.length > 1 ? script.shift() : script[0];
  if (item === undefined) throw new Error('the script is empty');
  if (item instanceof ApplicationFailure) throw item;
  return item;
}

function passed(item: PageReading | ApplicationFailure): PageReading {
  if (item instanceof ApplicationFailure) throw item;
  return item;
}

/** Creates a world in which a login succeeds with one answer by a person. */
export function createScriptedWorld(): ScriptedWorld {
  const world: ScriptedWorld = {
    discovered: [LOGIN_PAGE],
    answers: [INSIDE],
    shown: LOGIN_PAGE,
    reach: 'press',
    reopened: 0,
    abandoned: [],
    health: [{ outcome: 'authenticated', errorCode: null, credential: null }],
    credential: null,
    entered: [],
    linksOpened: [],
    finishFault: null,
    solver: null,
    solutions: [],
    solvable: false,
    unproved: false,
    pictures: {},
    sessions: [],
    recorderWorks: true,
    storeFault: null,
    writes: 0,
    holdChecks: Promise.resolve(),
    checksBegun: 0,
    closed: [],
    checks: 0,
    learns: false,
    quickly: 0,
    rows: new Map(),
    states: [],
    timeline: new Map(),
    slots: [],
    browsing: {
      openSession: ({ target, flowId, attempt }) => {
        const number = String(world.sessions.push(`${flowId}-${String(attempt)}`));
        const replayId = target.recordSession === true && world.recorderWorks ? `rep_${number}` : null;
        const replayError = target.recordSession === true && replayId === null ? 'Not recorded: why' : null;
        return Promise.resolve({ sessionId: `brw_${number}`, liveViewUrl: null, replayId, replayError });
      },
      discoverLogin: async () => Promise.resolve(observed(passed(next(world.discovered)))),
      readPage: async ({ reopen }) => {
        if (reopen === true) world.reopened += 1;
        return Promise.resolve(observed(world.shown));
      },
      enterAnswer: async (input) => {
        world.entered.push(input);
        return Promise.resolve({ ...observed(passed(next(world.answers))), keptId: 'kept' });
      },
      openLink: async (input) => {
        world.linksOpened.push(input);
        return Promise.resolve({ reading: passed(next(world.answers)), credential: world.credential });
      },
      askSolver: async () => Promise.resolve(world.solver === null ? null : { id: world.solver.push('asked') }),
      takeSolution: async ({ isLast }) => {
        world.solver?.push(isLast ? 'last look' : 'look');
        const solved = world.solutions.length > 0 ? next(world.solutions) : null;
        if (solved !== null && world.unproved === 'until_solved') world.unproved = false;
        if (solved === null) return Promise.resolve({ state: isLast ? 'failed' : 'waiting' });
        return Promise.resolve({ state: 'answered', observation: observed(solved) });
      },
      finishLogin: async () => {
        if (world.finishFault !== null) throw world.finishFault;
        return Promise.resolve({
          postLoginUrl: 'https://site.example/account',
          credentialName: world.credential === null ? null : 'saved',
          credential: world.credential,
        });
      },
      abandonLogin: async ({ sessionId }) => {
        world.closed.push(sessionId);
        return Promise.resolve();
      },
      checkHealth: async ({ target }) => {
        world.checksBegun += 1;
        await world.holdChecks;
        world.checks += 1;
        const outcome = next(world.health);
        const replay = target.recordSession === true ? { browserSessionId: 'brw_check', replayId: 'rep_check' } : {};
        const learned = world.learns && outcome.outcome === 'authenticated' ? { requestCheck: REQUEST_CHECK } : {};
        return Promise.resolve({ ...outcome, ...replay, ...learned, credential: world.credential });
      },
    },
    quickChecks: createQuickCheck({
      ask: async () => {
        const [due] = world.health;
        if (due?.outcome !== 'authenticated') return Promise.resolve(null);
        next(world.health);
        world.checks += 1;
        world.quickly += 1;
        return Promise.resolve({ method: 'request', status: 200, address: REQUEST_CHECK.url, decided_by: 'content' });
      },
      readCredential: async () => Promise.resolve(world.credential),
      record: async (record) => world.records.recordConnection(record),
      readRevision: async (id) => Promise.resolve(world.rows.get(id)?.revision ?? null),
    }),
    records: {
      insertConnection: async (document) => {
        if (world.storeFault !== null) throw world.storeFault;
        const taken = [...world.rows.values()].find(
          (row) =>
            row.settings.profile_name === document.settings.profile_name &&
            row.settings.domain === document.settings.domain,
        );
        if (taken !== undefined && taken.id !== document.id) return Promise.resolve({ existingId: taken.id });
        world.rows.set(document.id, document);
        return Promise.resolve({ existingId: null });
      },
      recordConnection: async ({ document, timeline }) => {
        world.writes += 1;
        if (world.storeFault !== null) throw world.storeFault;
        if ((world.rows.get(document.id)?.revision ?? 0) >= document.revision) return Promise.resolve();
        world.rows.set(document.id, document);
        world.states.push(document);
        for (const event of timeline) world.timeline.set(event.id, event);
        return Promise.resolve();
      },
      abandonEntry: async ({ entryId }) => {
        world.abandoned.push(entryId);
        return Promise.resolve({ reach: world.reach, keptId: 'kept' });
      },
      readCredential: async () => Promise.resolve(world.credential),
      takeCheckSlot: async ({ connectionId, intervalSeconds }) => {
        const place = `${String(intervalSeconds)} ${connectionId}`;
        const slot = world.slots.indexOf(place);
        return Promise.resolve({ slot: slot === -1 ? world.slots.push(place) - 1 : slot });
      },
      readRecorded: async ({ connectionId }) => {
        if (world.storeFault !== null) throw world.storeFault;
        const row = world.rows.get(connectionId);
        return Promise.resolve(
          row === undefined ? null : { revision: row.revision, lastCheckAt: row.last_auth_check_at },
        );
      },
      removeConnection: async ({ connectionId }) => {
        world.rows.delete(connectionId);
        return Promise.resolve();
      },
    },
  };
  return world;

  function observed(reading: PageReading): Observation {
    const isUnproved = world.unproved !== false && reading.kind === 'form';
    const isSolvable = world.solvable && (isUnproved || reading.kind === 'captcha');
    return {
      reading,
      credential: world.credential,
      ...(isUnproved ? { unproved: true } : {}),
      ...(isSolvable ? { solvable: true } : {}),
      ...(Object.keys(world.pictures).length > 0 ? { pictures: world.pictures } : {}),
    };
  }
}
