import type Kernel from '@onkernel/sdk';
import { ManagedAuth } from '../../contract/connections.ts';
import type { Installation } from './installation.ts';
import { until } from './until.ts';

/** Longest that one step of a login may take on a busy machine with two cores, in milliseconds. */
const STEP_WITHIN_MS = 120_000;

/** A pause, as a caller reads it. */
export type Pause = ManagedAuth & { interaction_id: string };

/** What `follow` tells of one state. */
export type FollowedState = Extract<Kernel.Auth.ConnectionFollowResponse, { event: 'managed_auth_state' }>;

/** Somebody who logs a connection in through the public client: reads what is asked, answers, waits for what comes. */
export interface Person {
  id: string;
  /** The connection now, in its whole shape: a property too many or of a wrong type fails. */
  read(): Promise<ManagedAuth>;
  /** Starts a login flow. */
  login(): Promise<void>;
  /** The next pause that waits for input, other than the ones that were seen before. */
  asked(): Promise<Pause>;
  /** The pause in which something must be done elsewhere. */
  askedElsewhere(): Promise<Pause>;
  /** Answers the pause that was seen last, by types of fields. */
  give(values: Partial<Record<'identifier' | 'password' | 'code' | 'totp_code' | 'text', string>>): Promise<void>;
  /** Picks the first choice of the pause that was seen last that fits. */
  choose(fits: (choice: NonNullable<ManagedAuth['choices']>[number]) => boolean): Promise<void>;
  /** Every state that the stream tells, until it ends by itself. */
  followed(): Promise<FollowedState[]>;
  /** Waits for the flow's end. */
  ended(): Promise<ManagedAuth>;
  /** Waits for the end, which must be a success. */
  loggedIn(): Promise<ManagedAuth>;
  /** Waits until a re-authentication has ended, however it did. */
  reauthenticated(): Promise<ManagedAuth>;
}

let profiles = 0;

/** Somebody at a new connection to the practice site, of a profile of its own. */
export async function newcomer(
  { kernel, practice }: Pick<Installation, 'kernel' | 'practice'>,
  more: Partial<Kernel.Auth.ConnectionCreateParams> = {},
): Promise<Person> {
  profiles += 1;
  const place = { profile_name: `person-${profiles}`, domain: practice.domain };
  const { id } = await kernel.auth.connections.create({ ...place, ...more });
  return personAt(kernel, id);
}

/** A person at one connection. */
export function personAt(kernel: Kernel, id: string): Person {
  const seen = new Set<string>();
  let last: Pause | null = null;

  const read = async (): Promise<ManagedAuth> => ManagedAuth.parse(await kernel.auth.connections.retrieve(id));
  const pauseOf = (step: ManagedAuth['flow_step']) => async (): Promise<Pause> => {
    const found = await until(
      `${String(step)} of ${id}`,
      read,
      (now) => {
        const over = now.flow_status !== 'IN_PROGRESS' && now.flow_status !== null;
        return over || (now.flow_step === step && isFresh(now.interaction_id));
      },
      STEP_WITHIN_MS,
    );
    if (!isPause(found)) {
      throw new Error(`the flow ended instead of pausing: ${String(found.flow_status)} ${String(found.error_code)}`);
    }
    seen.add(found.interaction_id);
    last = found;
    return found;
  };
  const isFresh = (interactionId: string | null | undefined): boolean =>
    typeof interactionId === 'string' && !seen.has(interactionId);
  const waiting = (): Pause => {
    if (last === null) throw new Error('no pause was seen yet');
    return last;
  };
  const ended = (): Promise<ManagedAuth> =>
    until(
      `the end of the flow of ${id}`,
      read,
      ({ flow_status: status }) => status !== null && status !== 'IN_PROGRESS',
      STEP_WITHIN_MS,
    );

  return {
    id,
    read,
    login: async () => {
      await kernel.auth.connections.login(id);
    },
    asked: pauseOf('AWAITING_INPUT'),
    askedElsewhere: pauseOf('AWAITING_EXTERNAL_ACTION'),
    give: async (values) => {
      const { interaction_id, fields } = waiting();
      const field_values: Record<string, string> = {};
      for (const [type, value] of Object.entries(values)) {
        const field = fields?.find((each) => each.type === type);
        if (field === undefined) throw new Error(`no ${type} is asked for, but ${JSON.stringify(waiting())}`);
        field_values[field.id] = value;
      }
      const body = { interaction_id, field_values };
      await kernel.auth.connections.submit(id, body);
    },
    choose: async (fits) => {
      const { interaction_id, choices } = waiting();
      const choice = choices?.find(fits);
      if (choice === undefined)
        throw new Error(`no such choice: ${(choices ?? []).map(({ id: of }) => of).join(', ')}`);
      const body = { interaction_id, selected_choice_id: choice.id };
      await kernel.auth.connections.submit(id, body);
    },
    followed: async () => {
      const states: FollowedState[] = [];
      for await (const event of await kernel.auth.connections.follow(id)) {
        if (event.event === 'managed_auth_state') states.push(event);
        else if (event.event === 'error') throw new Error(`the stream told of an error: ${event.error.code}`);
      }
      return states;
    },
    ended,
    loggedIn: async () => {
      const end = await ended();
      if (end.flow_status !== 'SUCCESS') {
        const why = `${String(end.flow_status)} ${String(end.error_code)} ${String(end.error_message)}`;
        throw new Error(`the login did not succeed: ${why}; the site says ${String(end.website_error)}`);
      }
      return end;
    },
    reauthenticated: () =>
      until(
        `the end of the re-authentication of ${id}`,
        read,
        ({ flow_type: type, flow_status: status }) => type === 'REAUTH' && status !== 'IN_PROGRESS',
        STEP_WITHIN_MS,
      ),
  };
}

/** Types of the fields that wait, in order. */
export function typesOf(fields: ManagedAuth['fields']): string {
  return (fields ?? []).map(({ type }) => type).join(' ');
}

function isPause(state: ManagedAuth): state is Pause {
  return typeof state.interaction_id === 'string';
}
