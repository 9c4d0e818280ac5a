import { z } from 'zod';
import type { ConnectionSubmit, ManagedAuth } from '../../contract/connections.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { FocusedControl } from '../../contract/screencast.ts';

/** Keys of a keyboard that a person presses on the page; what types a character is sent as text. */
export const HAND_KEYS = ['Return', 'Tab', 'BackSpace', 'Escape', 'Left', 'Right', 'Up', 'Down', 'space'] as const;
const Pixel = z.int().min(0).max(10_000);
const Pause = z.int().min(0).max(1000);

/** A connection as it was at one revision, and the flow it was in (null before the first flow). */
export interface HostedState {
  flowId: string | null;
  /** Grows with every change of the connection; the page uses it as event id. */
  revision: number;
  connection: ManagedAuth;
  /** What became of the word that the form before was not the right one; null where there was none. */
  formNotice: NonNullable<Interaction['form_notice']> | null;
  /** What the flow waits for is done on the page itself, which its person sees and acts on. */
  actsOnPage: boolean;
}

/**
 * What a person does on the page, in CSS pixels of its picture. `after_ms`: how long after what was done before, so that a drag
 * goes at the speed of the hand.
 */
export const HandAction = z.discriminatedUnion('do', [
  z.strictObject({ do: z.enum(['down', 'move', 'up']), x: Pixel, y: Pixel, after_ms: Pause }),
  z.strictObject({ do: z.literal('wheel'), x: Pixel, y: Pixel, notches: z.number().min(-20).max(20), after_ms: Pause }),
  z.strictObject({ do: z.literal('type'), text: z.string().min(1).max(100), after_ms: Pause }),
  z.strictObject({ do: z.literal('key'), key: z.enum(HAND_KEYS), after_ms: Pause }),
  // What was chosen for the list or date that has the keyboard there: an option's index, or the input's value.
  z.strictObject({ do: z.literal('pick'), value: z.string().max(100), after_ms: Pause }),
]);
export type HandAction = z.infer<typeof HandAction>;

/** What a token of the hosted page stands for. `expiresAt` in milliseconds since 1970. */
export interface HostedSession {
  connectionId: string;
  flowId: string;
  expiresAt: number;
}

/** What {@link HostedPageDeps.states} is asked for. */
export interface StatesRequest {
  /** Ends the iteration when it aborts. */
  signal: AbortSignal;
  /** The last revision that the page has seen; null yields the current state first. */
  afterRevision: number | null;
}

/** What the hosted page needs of the rest of the API. Every method may throw a HoldfastError; nothing else is shown. */
export interface HostedPageDeps {
  /** Where people reach this API: it decides the cookie's name and which origin is ours. No trailing slash needed. */
  publicUrl: string;
  /** Origins of pages that may show this one in a frame; none: nobody may. */
  allowedOrigins: readonly string[];
  /**
   * Redeems a handoff code, once. Throws `not_found` for an unknown code and `gone` for one that was used or is too old.
   */
  exchange(connectionId: string, code: string): Promise<{ jwt: string; flowId: string }>;
  /** What the token stands for; null when it is forged, of another kind or expired. */
  verify(jwt: string): Promise<HostedSession | null>;
  /** The connection as it is now; null when there is none. */
  read(connectionId: string): Promise<HostedState | null>;
  /**
   * Every state after `afterRevision`, then each new one as it comes to be. It may end at any time (the page asks again);
   * it must end when the signal aborts.
   */
  states(connectionId: string, request: StatesRequest): AsyncIterable<HostedState>;
  /** A canonical submit (`interaction_id` with `field_values` or `selected_choice_id`). Rejects like the public one. */
  submit(connectionId: string, body: ConnectionSubmit): Promise<void>;
  /**
   * The page that a flow's person is to act on: an event stream of `ScreencastFrame`s, until `signal` aborts. Throws `not_found`
   * unless the flow waits for that.
   */
  pictures(session: Omit<HostedSession, 'expiresAt'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Does on that page what the person did on its picture, in order, and answers what has the keyboard there since; null where
   * that cannot have changed. Throws as `pictures` does.
   */
  act(session: Omit<HostedSession, 'expiresAt'>, actions: HandAction[]): Promise<FocusedControl | null>;
}
