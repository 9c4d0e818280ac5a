import { type PrincipalCaller, maySeeAccess } from './caller.ts';
import type { ApiParts } from './parts.ts';

/** The environment of one deployment's programs, as a caller is shown it. */
export type ShowEnvVars = (deployment: { id: string; envNames: string[] }) => Promise<Record<string, string>>;

/**
 * How a caller is shown environments: every name, with its value for a person in the console who may do more than read, else
 * empty (interface.md, "App version summary"). For one request: what several versions share is opened once.
 */
export function envVarsFor({ store }: Pick<ApiParts, 'store'>, caller: PrincipalCaller): ShowEnvVars {
  const inConsole = caller.kind === 'user' && caller.source === 'dashboard' && maySeeAccess(caller);
  const opened = new Map<string, ReturnType<typeof store.deployments.source>>();
  return async ({ id, envNames }) => {
    const redacted = Object.fromEntries(envNames.map((name) => [name, '']));
    if (!inConsole || envNames.length === 0) return redacted;
    const source = opened.get(id) ?? store.deployments.source(id);
    opened.set(id, source);
    return (await source)?.envVars ?? redacted;
  };
}

/** True for a written answer that has some value of an environment in it. */
export function holdsEnvValue(body: unknown): boolean {
  return typeof body === 'string' && /"env_vars":\{[^}]*":"[^"]/.test(body);
}
