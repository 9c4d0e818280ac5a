import { z } from 'zod';
import type { ConnectionSubmit, ManagedAuth } from '../../contract/connections.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { FocusedControl } from '../../contract/screencast.ts';

/** Keys that can be pressed on the site's page; keys that type a character are sent as text. */
export const INPUT_KEYS = ['Return', 'Tab', 'BackSpace', 'Escape', 'Left', 'Right', 'Up', 'Down', 'space'] as const;
const Pixel = z.int().min(0).max(10_000);
const Pause = z.int().min(0).max(1000);

/** A connection at one revision, with its current flow (null before the first one). */
export interface HostedState {
  flowId: string | null;
  /** Increases with every change of the connection; used as event id. */
  revision: number;
  connection: ManagedAuth;
  /** Result of reporting the previous form as wrong; null if none was reported. */
  formNotice: NonNullable<Interaction['form_notice']> | null;
  /** Pictures whose characters fields ask for, as data URLs by field id. */
  pictures: NonNullable<Interaction['pictures']>;
  /** The flow is waiting for the person to act on the site's page, which is shown to them. */
  actsOnPage: boolean;
}

/**
 * Input on the site's page, in CSS pixels of its screenshot. `after_ms` is the delay since the previous action, so that a drag
 * keeps its speed.
 */
export const InputAction = z.discriminatedUnion('do', [
  z.strictObject({ do: z.enum(['down', 'move', 'up']), x: Pixel, y: Pixel, after_ms: Pause }),
  z.strictObject({ do: z.literal('wheel'), x: Pixel, y: Pixel, notches: z.number().min(-20).max(20), after_ms: Pause }),
  z.strictObject({ do: z.literal('type'), text: z.string().min(1).max(100), after_ms: Pause }),
  z.strictObject({ do: z.literal('key'), key: z.enum(INPUT_KEYS), after_ms: Pause }),
  // Value for the focused list or date input: an option's index, or the input's value.
  z.strictObject({ do: z.literal('pick'), value: z.string().max(100), after_ms: Pause }),
]);
export type InputAction = z.infer<typeof InputAction>;

/** The session a hosted page token stands for. `expiresAt` is epoch ms. */
export interface HostedSession {
  connectionId: string;
  flowId: string;
  expiresAt: number;
}

/** Options of {@link HostedPageDeps.states}. */
export interface StatesRequest {
  /** Ends the iteration when it aborts. */
  signal: AbortSignal;
  /** The last revision the page has seen; null yields the current state first. */
  afterRevision: number | null;
}

/** What the hosted page needs from the API. Methods may throw a HoldfastError; its message is not shown to the person. */
export interface HostedPageDeps {
  /** Public URL of the API: it determines the cookie's name and our own origin. A trailing slash is optional. */
  publicUrl: string;
  /** Origins that may frame this page; empty: none. */
  allowedOrigins: readonly string[];
  /** Redeems a handoff code, once. Throws `not_found` for an unknown code and `gone` for a used or expired one. */
  exchange(connectionId: string, code: string): Promise<{ jwt: string; flowId: string }>;
  /** The token's session; null if it is invalid, of another kind or expired. */
  verify(jwt: string): Promise<HostedSession | null>;
  /** The current state of the connection; null if it does not exist. */
  read(connectionId: string): Promise<HostedState | null>;
  /**
   * Yields every state after `afterRevision`, then each new one. May end at any time (the page reconnects); must end when the
   * signal aborts.
   */
  states(connectionId: string, request: StatesRequest): AsyncIterable<HostedState>;
  /** Submits an answer (`interaction_id` with `field_values` or `selected_choice_id`). Rejects as the public operation does. */
  submit(connectionId: string, body: ConnectionSubmit): Promise<void>;
  /**
   * Opens an event stream of `ScreencastFrame`s of the site's page, until `signal` aborts. Throws `not_found` unless the flow is
   * waiting for the person to act there.
   */
  screencast(session: Omit<HostedSession, 'expiresAt'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Performs input on the site's page in order, and returns the control that has the focus afterwards; null if it cannot have
   * changed. Throws as `screencast` does.
   */
  sendInput(session: Omit<HostedSession, 'expiresAt'>, actions: InputAction[]): Promise<FocusedControl | null>;
}
