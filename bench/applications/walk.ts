import type Kernel from '@onkernel/sdk';
import { Secret, TOTP } from 'otpauth';
import { ManagedAuth } from '../../contract/connections.ts';
import { until } from '../../test/e2e/process-tree.ts';
import type { Account, RunningApplication } from './application.ts';

const STEP_WITHIN_MS = 90_000;
const MAX_ANSWERS = 12;

/** One connection to an application, walked as a caller of the public client would. */
export class Walk {
  readonly #kernel: Kernel;
  readonly #application: RunningApplication;
  readonly #id: string;
  readonly #account: Account;
  #asked: string[] = [];

  private constructor(kernel: Kernel, application: RunningApplication, id: string) {
    this.#kernel = kernel;
    this.#application = application;
    this.#id = id;
    this.#account = application.account;
  }

  /** A new connection on a profile of its own. */
  static async begin(kernel: Kernel, application: RunningApplication, profile: string): Promise<Walk> {
    const { domain, loginUrl } = application;
    const { id } = await kernel.auth.connections.create({
      profile_name: profile,
      domain,
      save_credentials: true,
      ...(loginUrl === undefined ? {} : { login_url: loginUrl }),
    });
    return new Walk(kernel, application, id);
  }

  /** What was asked on the way, for who reads why a walk failed. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  /** Logs in and answers at once; with `wrongFirst`, the first password that is given is a wrong one. */
  async logIn(wrongFirst = false): Promise<void> {
    this.#asked = [];
    await this.#kernel.auth.connections.login(this.#id);
    let wrong = wrongFirst;
    let refused = false;
    const seen = new Set<string>();
    for (let answers = 0; answers <= MAX_ANSWERS; answers += 1) {
      const state = await this.#next(seen);
      if (state.flow_status === 'SUCCESS') {
        if (wrongFirst && !refused) throw new Error('the wrong password was taken for a right one');
        return;
      }
      seen.add(state.interaction_id ?? '');
      const fields = state.fields ?? [];
      this.#asked.push(
        [
          ...fields.map(({ type, reason }) => `${type}:${reason}`),
          ...(state.choices ?? []).map(({ label }) => label),
        ].join(', '),
      );
      refused ||= fields.some(({ reason }) => reason === 'rejected');
      const choice = state.choices?.find(({ label }) => this.#application.choice?.test(label));
      if (choice !== undefined && !fields.some(({ type }) => type === 'password')) {
        const body = { interaction_id: state.interaction_id ?? '', selected_choice_id: choice.id };
        await this.#kernel.auth.connections.submit(this.#id, body);
        continue;
      }
      // What need not be answered stands as the site has it: a driver, a server, a realm.
      const needed = fields.filter(({ required }) => required);
      const entries = await Promise.all(needed.map(async ({ id, type }) => [id, await this.#valueFor(type, wrong)]));
      if (fields.some(({ type }) => type === 'password')) wrong = false;
      const body = {
        interaction_id: state.interaction_id ?? '',
        field_values: Object.fromEntries(entries) as Record<string, string>,
      };
      await this.#kernel.auth.connections.submit(this.#id, body);
    }
    throw new Error('asked too often');
  }

  /** Gives the saved credential what an authenticator app holds. */
  async saveTotpSecret(): Promise<void> {
    const { totpSecret } = this.#account;
    const { credential } = await this.#kernel.auth.connections.retrieve(this.#id);
    if (totpSecret === undefined || credential?.name === undefined) return;
    await this.#kernel.credentials.update(credential.name, { totp_secret: totpSecret });
  }

  /** A check now; resolves with the connection when what it started has ended. */
  async check(): Promise<ManagedAuth> {
    const before = await this.#kernel.auth.connections.retrieve(this.#id);
    await this.#kernel.post(`/auth/connections/${this.#id}/check`);
    return await until(
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

  /** What the last check says of itself beside its status, for who reads why a walk failed. */
  async lastCheck(): Promise<string> {
    for await (const event of this.#kernel.auth.connections.timeline(this.#id)) {
      const { type, status, error_code: code, error_message: message } = event;
      if (type !== 'health_check') continue;
      const { post_login_url: landing } = await this.#read();
      return [status, code, message, `looked at ${String(landing)}`].filter(Boolean).join(', ');
    }
    return 'no check';
  }

  /** Everything that the timeline and the connection tell, for who reads why a walk failed. */
  async story(): Promise<string> {
    const events: unknown[] = [];
    for await (const event of this.#kernel.auth.connections.timeline(this.#id)) events.push(event);
    return [...events, await this.#read()].map((each) => JSON.stringify(each)).join('\n');
  }

  /** The connection now, in its whole shape: the public client's types leave properties out. */
  async #read(): Promise<ManagedAuth> {
    return ManagedAuth.parse(await this.#kernel.auth.connections.retrieve(this.#id));
  }

  /** The next pause that was not seen before, or the flow's end. */
  async #next(seen: ReadonlySet<string>): Promise<ManagedAuth> {
    return await until(
      async () => {
        const state = await this.#read();
        if (state.flow_status === 'SUCCESS') return state;
        if (state.flow_status !== 'IN_PROGRESS')
          throw new Error(`${String(state.flow_status)} ${String(state.error_code)}: ${String(state.error_message)}`);
        const waits = state.flow_step === 'AWAITING_INPUT' && typeof state.interaction_id === 'string';
        return waits && !seen.has(state.interaction_id ?? '') ? state : null;
      },
      STEP_WITHIN_MS,
      'a pause or the end',
      25,
    );
  }

  async #valueFor(type: string, wrong: boolean): Promise<string> {
    switch (type) {
      case 'password':
        return wrong ? 'not-the-password-1' : this.#account.password;
      case 'code':
      case 'totp_code':
        return await (this.#application.sentCode?.() ?? this.#code());
      default:
        return this.#account.identifier;
    }
  }

  /** A code that was not given before: a site takes each once. */
  async #code(): Promise<string> {
    await untilFreshCode(this.#account);
    return spendCode(this.#account);
  }
}

/** The code of each authenticator that was given last. */
const spentCodes = new Map<string, string>();

/** Notes the code of this moment as given; answers it. */
export function spendCode({ totpSecret = '' }: Account): string {
  const code = codeNow(totpSecret);
  spentCodes.set(totpSecret, code);
  return code;
}

/** Waits until the authenticator shows a code that nobody has given yet. At once where there is none. */
export async function untilFreshCode({ totpSecret }: Account): Promise<void> {
  if (totpSecret === undefined) return;
  const isFresh = () => Promise.resolve(codeNow(totpSecret) === spentCodes.get(totpSecret) ? null : true);
  await until(isFresh, 35_000, 'a new code');
}

function codeNow(totpSecret: string): string {
  return new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate();
}
