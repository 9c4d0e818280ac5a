import type { BrowserPoolCreate, BrowserPoolUpdate } from '../../contract/browser-pools.ts';
import { BrowserPoolConfig, FILL_RATE_DEFAULT, POOL_TIMEOUT_DEFAULT_S } from '../../contract/browser-pools.ts';
import type { BrowserCreate } from '../../contract/browsers.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { exclusionsOf, selectionOnUpdate, selectionView } from '../../contract/telemetry-selection.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { WindowPolicy } from '../chromium/display.ts';
import { resolveExtensions, type ExtensionStore } from '../extensions/stored-extensions.ts';
import type { ProfileStore } from '../profile/profile-store.ts';
import { assertWindowAvailable, checkStartOptions, rejectUnsupported } from '../session/new-session.ts';
import { resolveProxy, type ProxyStore } from '../session/session-proxy.ts';

/** A pool's settings, with the names in its configuration resolved to ids, which survive renames. */
export interface PoolDefinition {
  name: string | null;
  config: BrowserPoolConfig;
  profileId: string | null;
  extensionIds: string[];
}

/** A persisted pool. */
export interface StoredPool extends PoolDefinition {
  id: string;
  projectId: string;
  createdAt: Date;
}

/** Reads pool definitions from requests. Throws by field for settings that browsers could not start with. */
export interface DefinitionReader {
  onCreate(projectId: string, request: BrowserPoolCreate): Promise<PoolDefinition>;
  onUpdate(stored: StoredPool, request: BrowserPoolUpdate): Promise<PoolDefinition>;
}

interface DefinitionDeps {
  policy: EgressPolicy;
  windows: WindowPolicy;
  profiles: Pick<ProfileStore, 'lookUp'>;
  proxies: ProxyStore;
  extensions: ExtensionStore;
}

export function createDefinitionReader(deps: DefinitionDeps): DefinitionReader {
  /** Validates a configuration and resolves its names. */
  const resolve = async (projectId: string, config: BrowserPoolConfig): Promise<PoolDefinition> => {
    checkStartOptions({ start_url: config.start_url, chrome_policy: config.chrome_policy }, deps.policy);
    assertWindowAvailable(config, deps.windows);
    await resolveProxy(deps.proxies, projectId, config);
    const kept = await resolveExtensions(deps.extensions, projectId, config.extensions ?? []);
    const profileId = await findProfile(projectId, config.profile);
    if (profileId === null && config.refresh_on_profile_update === true) {
      throw invalidField('refresh_on_profile_update', 'requires a `profile`');
    }
    return { name: config.name ?? null, config, profileId, extensionIds: kept.map(({ id }) => id) };
  };

  const findProfile = async (projectId: string, ref: BrowserPoolConfig['profile']): Promise<string | null> => {
    if (ref === undefined) return null;
    const profile = await deps.profiles.lookUp(
      projectId,
      ref.id === undefined ? { name: ref.name ?? '' } : { id: ref.id },
    );
    if (profile !== null) return profile.id;
    const message = 'profile: no such profile; create it first';
    throw new HoldfastError('not_found', message, { details: [{ code: 'not_found', message }] });
  };

  return {
    onCreate: (projectId, request) => {
      rejectUnsupported(request);
      const profile = namedProfile(request.profile);
      return resolve(
        projectId,
        configOf({
          ...request,
          profile,
          fill_rate_per_minute: request.fill_rate_per_minute ?? FILL_RATE_DEFAULT,
          timeout_seconds: request.timeout_seconds ?? POOL_TIMEOUT_DEFAULT_S,
          stealth: request.stealth ?? false,
          kiosk_mode: request.kiosk_mode ?? false,
          refresh_on_profile_update: request.refresh_on_profile_update ?? (profile === undefined ? undefined : true),
          telemetry: mergeTelemetry(undefined, request.telemetry),
        }),
      );
    },
    onUpdate: ({ projectId, config: former, profileId }, request) => {
      rejectUnsupported(request);
      const changes = Object.fromEntries(Object.entries(request).filter(([, member]) => member !== undefined));
      const profile = request.profile === undefined ? former.profile : namedProfile(request.profile);
      const config = configOf({
        ...former,
        ...changes,
        // Two members can name the proxy; the one in the request wins.
        ...(request.proxy === undefined ? {} : { proxy_id: undefined }),
        ...(request.proxy_id === undefined ? {} : { proxy: undefined }),
        name: request.name === undefined || request.name === '' ? former.name : request.name,
        profile,
        telemetry: mergeTelemetry(former.telemetry, request.telemetry),
      });
      return withRefresh(resolve, projectId, config, request, profileId);
    },
  };
}

/** A newly attached profile refreshes by default; without a profile the setting is dropped; else it is kept. */
async function withRefresh(
  resolve: (projectId: string, config: BrowserPoolConfig) => Promise<PoolDefinition>,
  projectId: string,
  config: BrowserPoolConfig,
  { refresh_on_profile_update: wanted }: BrowserPoolUpdate,
  formerProfileId: string | null,
): Promise<PoolDefinition> {
  const { refresh_on_profile_update: former, ...rest } = config;
  if (config.profile === undefined) {
    return resolve(projectId, wanted === true ? { ...rest, refresh_on_profile_update: true } : rest);
  }
  const definition = await resolve(projectId, rest);
  const refresh = wanted ?? (definition.profileId === formerProfileId ? former : true);
  return { ...definition, config: configOf({ ...rest, refresh_on_profile_update: refresh }) };
}

/** The request to start a browser of the pool. */
export function startRequestOf({ config, profileId, extensionIds }: PoolDefinition): BrowserCreate {
  const {
    headless,
    stealth,
    kiosk_mode,
    viewport,
    chrome_policy,
    timeout_seconds,
    proxy,
    proxy_id,
    start_url,
    memory,
  } = config;
  return {
    ...{ headless, stealth, kiosk_mode, viewport, chrome_policy, timeout_seconds, proxy, proxy_id, start_url, memory },
    telemetry: config.telemetry,
    profile: profileId === null ? undefined : { id: profileId },
    extensions: extensionIds.map((id) => ({ id })),
  };
}

/** An empty reference removes the profile. */
function namedProfile(ref: BrowserPoolConfig['profile']): BrowserPoolConfig['profile'] {
  const { id = '', name = '' } = ref ?? {};
  if (id !== '' && name !== '') throw invalidField('profile', 'send either `id` or `name`');
  return id === '' ? (name === '' ? undefined : { name }) : { id };
}

function mergeTelemetry(
  current: BrowserPoolConfig['telemetry'],
  request: BrowserPoolCreate['telemetry'],
): BrowserPoolConfig['telemetry'] {
  const selection = selectionOnUpdate(selectionOnUpdate(null, current), request);
  return selectionView(selection, exclusionsOf(request) ?? exclusionsOf(current)) ?? undefined;
}

/** Drops undefined, null and empty members, which unset a setting. */
function configOf(members: object): BrowserPoolConfig {
  const isSet = (member: unknown): boolean => {
    if (member === undefined || member === null || member === '') return false;
    return typeof member !== 'object' || Object.keys(member).length > 0;
  };
  return BrowserPoolConfig.parse(Object.fromEntries(Object.entries(members).filter(([, member]) => isSet(member))));
}
