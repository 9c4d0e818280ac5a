import type Kernel from '@onkernel/sdk';
import { ManagedAuth } from '../../contract/connections.ts';
import type { Installation } from './installation.ts';
import { until } from './until.ts';

/** Timeout of one login step on a busy machine with two cores, in milliseconds. */
const STEP_WITHIN_MS = 120_000;

/** A connection that waits for an answer. */
export type PendingInteraction = ManagedAuth & { interaction_id: string };

/** A state event of `follow`. */
export type FollowedState = Extract<Kernel.Auth.ConnectionFollowResponse, { event: 'managed_auth_state' }>;

/** A person who logs a connection in through the public client. */
export interface Person {
  id: string;
  /** The connection. Rejects on unknown properties or wrong types. */
  read(): Promise<ManagedAuth>;
  /** Starts a login flow. */
  login(): Promise<void>;
  /** Waits for the next interaction that awaits input. */
  waitForInput(): Promise<PendingInteraction>;
  /** Waits for the next interaction that awaits an action outside the login page. */
  waitForExternalAction(): Promise<PendingInteraction>;
  /** Answers the last interaction, by field types. */
  answer(values: Partial<Record<'identifier' | 'password' | 'code' | 'totp_code' | 'text', string>>): Promise<void>;
  /** Picks the first matching choice of the last interaction. */
  choose(matches: (choice: NonNullable<ManagedAuth['choices']>[number]) => boolean): Promise<void>;
  /** All states of the stream, once it has ended. */
  followToEnd(): Promise<FollowedState[]>;
  /** Waits for the end of the flow. */
  waitForEnd(): Promise<ManagedAuth>;
  /** Waits for the end of the flow. Rejects unless it succeeded. */
  waitForSuccess(): Promise<ManagedAuth>;
  /** Waits for the end of a re-authentication, whatever its result. */
  waitForReauth(): Promise<ManagedAuth>;
}

let profiles = 0;

/** Creates a connection to the practice site, with a new profile, for a person. */
export async function newPerson(
  { kernel, practice }: Pick<Installation, 'kernel' | 'practice'>,
  more: Partial<Kernel.Auth.ConnectionCreateParams> = {},
): Promise<Person> {
  profiles += 1;
  const place = { profile_name: `person-${profiles}`, domain: practice.domain };
  const { id } = await kernel.auth.connections.create({ ...place, ...more });
  return personFor(kernel, id);
}

/** A person for an existing connection. */
export function personFor(kernel: Kernel, id: string): Person {
  const seen = new Set<string>();
  let last: PendingInteraction | null = null;

  const read = async (): Promise<ManagedAuth> => ManagedAuth.parse(await kernel.auth.connections.retrieve(id));
  const interactionOf = (step: ManagedAuth['flow_step']) => async (): Promise<PendingInteraction> => {
    const found = await until(
      `${String(step)} of ${id}`,
      read,
      (now) => {
        const isOver = now.flow_status !== 'IN_PROGRESS' && now.flow_status !== null;
        return isOver || (now.flow_step === step && isFresh(now.interaction_id));
      },
      STEP_WITHIN_MS,
    );
    if (!isPendingInteraction(found)) {
      throw new Error(
        `the flow ended without awaiting ${String(step)}: ${String(found.flow_status)} ${String(found.error_code)}`,
      );
    }
    seen.add(found.interaction_id);
    last = found;
    return found;
  };
  const isFresh = (interactionId: string | null | undefined): boolean =>
    typeof interactionId === 'string' && !seen.has(interactionId);
  const lastInteraction = (): PendingInteraction => {
    if (last === null) throw new Error('there was no interaction yet');
    return last;
  };
  const waitForEnd = (): Promise<ManagedAuth> =>
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
    waitForInput: interactionOf('AWAITING_INPUT'),
    waitForExternalAction: interactionOf('AWAITING_EXTERNAL_ACTION'),
    answer: async (values) => {
      const { interaction_id, fields } = lastInteraction();
      const field_values: Record<string, string> = {};
      for (const [type, value] of Object.entries(values)) {
        const field = fields?.find((each) => each.type === type);
        if (field === undefined) throw new Error(`no field of type ${type} in ${JSON.stringify(lastInteraction())}`);
        field_values[field.id] = value;
      }
      const body = { interaction_id, field_values };
      await kernel.auth.connections.submit(id, body);
    },
    choose: async (matches) => {
      const { interaction_id, choices } = lastInteraction();
      const choice = choices?.find(matches);
      if (choice === undefined)
        throw new Error(`no such choice: ${(choices ?? []).map(({ id: of }) => of).join(', ')}`);
      const body = { interaction_id, selected_choice_id: choice.id };
      await kernel.auth.connections.submit(id, body);
    },
    followToEnd: async () => {
      const states: FollowedState[] = [];
      for await (const event of await kernel.auth.connections.follow(id)) {
        if (event.event === 'managed_auth_state') states.push(event);
        else if (event.event === 'error') throw new Error(`the stream failed: ${event.error.code}`);
      }
      return states;
    },
    waitForEnd,
    waitForSuccess: async () => {
      const end = await waitForEnd();
      if (end.flow_status !== 'SUCCESS') {
        const why = `${String(end.flow_status)} ${String(end.error_code)} ${String(end.error_message)}`;
        throw new Error(`the login failed: ${why}; website_error ${String(end.website_error)}`);
      }
      return end;
    },
    waitForReauth: () =>
      until(
        `the end of the re-authentication of ${id}`,
        read,
        ({ flow_type: type, flow_status: status }) => type === 'REAUTH' && status !== 'IN_PROGRESS',
        STEP_WITHIN_MS,
      ),
  };
}

/** Types of the fields, in order, separated by spaces. */
export function fieldTypes(fields: ManagedAuth['fields']): string {
  return (fields ?? []).map(({ type }) => type).join(' ');
}

function isPendingInteraction(state: ManagedAuth): state is PendingInteraction {
  return typeof state.interaction_id === 'string';
}
