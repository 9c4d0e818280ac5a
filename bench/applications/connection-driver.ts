import type Kernel from '@onkernel/sdk';
import { ManagedAuth } from '../../contract/connections.ts';
import { waitFor } from '../../test/e2e/until.ts';
import type { Account, RunningApplication } from './application.ts';
import { authenticatorCode } from './login-by-hand.ts';

const STEP_WITHIN_MS = 90_000;
const MAX_ANSWERS = 12;

/** Drives one connection to an application through the public client. */
export class ConnectionDriver {
  readonly #kernel: Kernel;
  readonly #application: RunningApplication;
  readonly #id: string;
  readonly #account: Account;
  #prompts: string[] = [];

  private constructor(kernel: Kernel, application: RunningApplication, id: string) {
    this.#kernel = kernel;
    this.#application = application;
    this.#id = id;
    this.#account = application.account;
  }

  /** Creates a connection with its own profile. */
  static async create(
    kernel: Kernel,
    application: RunningApplication,
    { domain, profile }: { domain: string; profile: string },
  ): Promise<ConnectionDriver> {
    const { loginUrl } = application;
    const { id } = await kernel.auth.connections.create({
      profile_name: profile,
      domain,
      save_credentials: true,
      ...(loginUrl === undefined ? {} : { login_url: loginUrl }),
    });
    return new ConnectionDriver(kernel, application, id);
  }

  /** What the last login asked for, to explain a failure. */
  get prompts(): readonly string[] {
    return this.#prompts;
  }

  /** Logs in and answers every prompt at once; with `wrongFirst`, the first password is wrong. */
  async logIn(wrongFirst = false): Promise<void> {
    this.#prompts = [];
    await this.#kernel.auth.connections.login(this.#id);
    let wrong = wrongFirst;
    let rejected = false;
    const seen = new Set<string>();
    for (let answers = 0; answers <= MAX_ANSWERS; answers += 1) {
      const state = await this.#next(seen);
      if (state.flow_status === 'SUCCESS') {
        if (wrongFirst && !rejected) throw new Error('the wrong password was not reported as rejected');
        return;
      }
      seen.add(state.interaction_id ?? '');
      const fields = state.fields ?? [];
      this.#prompts.push(
        [
          ...fields.map(({ type, reason }) => `${type}:${reason}`),
          ...(state.choices ?? []).map(({ label }) => label),
        ].join(', '),
      );
      rejected ||= fields.some(({ reason }) => reason === 'rejected');
      const choice = state.choices?.find(({ label }) => this.#application.choice?.test(label));
      if (choice !== undefined && !fields.some(({ type }) => type === 'password')) {
        const body = { interaction_id: state.interaction_id ?? '', selected_choice_id: choice.id };
        await this.#kernel.auth.connections.submit(this.#id, body);
        continue;
      }
      // Optional fields keep the site's defaults: a driver, a server, a realm.
      const required = fields.filter((field) => field.required);
      const entries = await Promise.all(required.map(async ({ id, type }) => [id, await this.#valueFor(type, wrong)]));
      if (fields.some(({ type }) => type === 'password')) wrong = false;
      const body = {
        interaction_id: state.interaction_id ?? '',
        field_values: Object.fromEntries(entries) as Record<string, string>,
      };
      await this.#kernel.auth.connections.submit(this.#id, body);
    }
    throw new Error('too many prompts');
  }

  /** Adds the authenticator's secret to the saved credential. */
  async saveTotpSecret(): Promise<void> {
    const { totpSecret } = this.#account;
    const { credential } = await this.#kernel.auth.connections.retrieve(this.#id);
    if (totpSecret === undefined || credential?.name === undefined) return;
    await this.#kernel.credentials.update(credential.name, { totp_secret: totpSecret });
  }

  /** Runs a check; resolves with the connection once the check, and the login it may start, has ended. */
  async check(): Promise<ManagedAuth> {
    const before = await this.#kernel.auth.connections.retrieve(this.#id);
    await this.#kernel.post(`/auth/connections/${this.#id}/check`);
    return await waitFor(
      async () => {
        const now = await this.#read();
        if (now.flow_status === 'IN_PROGRESS') return null;
        const ended = now.status === 'AUTHENTICATED' || now.flow_expires_at !== before.flow_expires_at;
        return ended || now.can_reauth === false ? now : null;
      },
      STEP_WITHIN_MS,
      'the check to end',
    );
  }

  /** Describes the last check, to explain a failure. */
  async lastCheck(): Promise<string> {
    for await (const event of this.#kernel.auth.connections.timeline(this.#id)) {
      const { type, status, error_code: code, error_message: message } = event;
      if (type !== 'health_check') continue;
      const { post_login_url: landing } = await this.#read();
      return [status, code, message, `at ${String(landing)}`].filter(Boolean).join(', ');
    }
    return 'no check';
  }

  /** The timeline and the connection, one JSON object a line, to explain a failure. */
  async dump(): Promise<string> {
    const events: unknown[] = [];
    for await (const event of this.#kernel.auth.connections.timeline(this.#id)) events.push(event);
    return [...events, await this.#read()].map((each) => JSON.stringify(each)).join('\n');
  }

  /** The connection with all its properties; the public client's types lack some. */
  async #read(): Promise<ManagedAuth> {
    return ManagedAuth.parse(await this.#kernel.auth.connections.retrieve(this.#id));
  }

  /** Waits for an interaction not in `seen`, or for the flow to succeed. Rejects if it fails. */
  async #next(seen: ReadonlySet<string>): Promise<ManagedAuth> {
    return await waitFor(
      async () => {
        const state = await this.#read();
        if (state.flow_status === 'SUCCESS') return state;
        if (state.flow_status !== 'IN_PROGRESS')
          throw new Error(`${String(state.flow_status)} ${String(state.error_code)}: ${String(state.error_message)}`);
        const isWaiting = state.flow_step === 'AWAITING_INPUT' && typeof state.interaction_id === 'string';
        return isWaiting && !seen.has(state.interaction_id ?? '') ? state : null;
      },
      STEP_WITHIN_MS,
      'the next prompt or the end of the flow',
      25,
    );
  }

  async #valueFor(type: string, wrong: boolean): Promise<string> {
    switch (type) {
      case 'password':
        return wrong ? 'not-the-password-1' : this.#account.password;
      case 'code':
      case 'totp_code':
        return await (this.#application.sentCode?.() ?? this.#freshCode());
      default:
        return this.#account.identifier;
    }
  }

  /** A code that was not used before: sites accept each code once. */
  async #freshCode(): Promise<string> {
    await waitForFreshCode(this.#account);
    return useCode(this.#account);
  }
}

/** The last code used of each authenticator, by its secret. */
const usedCodes = new Map<string, string>();

/** Returns the current code and records it as used. */
export function useCode({ totpSecret = '' }: Account): string {
  const code = authenticatorCode(totpSecret);
  usedCodes.set(totpSecret, code);
  return code;
}

/** Waits until the authenticator shows an unused code. Resolves at once for an account without an authenticator. */
export async function waitForFreshCode({ totpSecret }: Account): Promise<void> {
  if (totpSecret === undefined) return;
  const isFresh = () => Promise.resolve(authenticatorCode(totpSecret) === usedCodes.get(totpSecret) ? null : true);
  await waitFor(isFresh, 35_000, 'a new code');
}
