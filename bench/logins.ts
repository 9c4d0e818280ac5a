import Kernel from '@onkernel/sdk';
import type { ManagedAuth } from '@onkernel/sdk/resources/auth/connections';
import { SANDBOX_USERS } from '../sandbox/site.ts';
import type { ProcessTree } from '../test/e2e/process-tree.ts';

/** How long a login may take before the benchmark gives up, in milliseconds. */
const LOGIN_WITHIN_MS = 60_000;
const POLL_MS = 25;

/** The sandbox user of the one-page login. */
export function onePageUser() {
  const user = SANDBOX_USERS.find(({ loginPath }) => loginPath === '/login');
  if (!user) throw new Error('the sandbox has no user of the one-page login');
  return user;
}

/** A public client for a running tree. */
export function clientOf(tree: ProcessTree): Kernel {
  return new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
}

/** Creates a connection to the sandbox's one-page login; with `credential` it logs in without a person. */
export function connect(
  kernel: Kernel,
  tree: ProcessTree,
  profileName: string,
  more: { credential?: string; interval?: number } = {},
): Promise<ManagedAuth> {
  return kernel.auth.connections.create({
    profile_name: profileName,
    domain: tree.sandboxDomain,
    login_url: `${tree.sandboxUrl}/login`,
    ...(more.credential === undefined ? {} : { credential: { name: more.credential } }),
    ...(more.interval === undefined ? {} : { health_check_interval: more.interval }),
  });
}

/** Polls the connection until `matches` holds. Rejects if the flow fails or takes too long. */
export async function waitForState(
  kernel: Kernel,
  id: string,
  matches: (state: ManagedAuth) => boolean,
  withinMs = LOGIN_WITHIN_MS,
): Promise<ManagedAuth> {
  const end = Date.now() + withinMs;
  for (;;) {
    const state = await kernel.auth.connections.retrieve(id);
    if (matches(state)) return state;
    if (state.flow_status === 'FAILED') throw new Error(`the login failed: ${String(state.error_code)}`);
    if (Date.now() > end) throw new Error(`the login stayed at ${String(state.flow_step)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Submits every pending field with the sandbox user's values. Resolves when the submission is accepted. */
export async function answer(kernel: Kernel, state: ManagedAuth): Promise<void> {
  const user = onePageUser();
  const values = (state.discovered_fields ?? []).map((field) => [
    field.name,
    field.type === 'password' ? user.password : user.username,
  ]);
  await kernel.auth.connections.submit(state.id, { fields: Object.fromEntries(values) as Record<string, string> });
}

export const isAwaitingInput = (state: ManagedAuth): boolean => state.flow_step === 'AWAITING_INPUT';
export const isDone = (state: ManagedAuth): boolean => state.flow_status === 'SUCCESS';
