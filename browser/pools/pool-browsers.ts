import { startRequestOf } from './definition.ts';
import type { PoolBrowsers } from './pool.ts';
import type { ProfileStore } from '../profile/profile-store.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { exclusionsOf, selectionOnUpdate } from '../../contract/telemetry-selection.ts';
import { withTimeout } from '../../contract/with-timeout.ts';
import { openStartUrl, type SessionLifecycle } from '../session/lifecycle.ts';
import type { SessionRegistry } from '../session/registry.ts';
import type { Session } from '../session/session.ts';

/** Timeout of a liveness check, in milliseconds; it usually takes one. */
const ALIVE_TIMEOUT_MS = 5_000;

interface PoolBrowsersDeps {
  lifecycle: Pick<SessionLifecycle, 'create' | 'renew' | 'end'>;
  registry: Pick<SessionRegistry, 'assertNameFree'>;
  profiles: Pick<ProfileStore, 'lookUp'>;
}

/** Implements the operations of pools with sessions of this service. */
export function createPoolBrowsers({ lifecycle, registry, profiles }: PoolBrowsersDeps): PoolBrowsers {
  /** Profile and proxy at start; a browser whose user changed them is not reused. */
  const origins = new WeakMap<Session['chromium'], { profile: unknown; proxy: unknown }>();
  return {
    start: async (pool) => {
      const { id, name } = pool;
      const ref = { id, ...(name === null ? {} : { name }) };
      const session = await lifecycle.create(pool.projectId, startRequestOf(pool), { pool: ref });
      origins.set(session.chromium, { profile: session.record.profile, proxy: session.record.proxy });
      return session;
    },
    renew: async (pool, session) => {
      const { record, chromium } = session;
      const origin = origins.get(chromium);
      if (origin?.profile !== record.profile || origin.proxy !== record.proxy) {
        await lifecycle.end(session, 'released');
        throw new HoldfastError('gone', 'The browser’s profile or proxy was changed');
      }
      return lifecycle.renew(session, startRequestOf(pool));
    },
    isAlive: async ({ chromium }) => {
      if (chromium.hasExited()) return false;
      const responds = chromium.cdp.send('Browser.getVersion').then(
        () => true,
        () => false,
      );
      return withTimeout(responds, ALIVE_TIMEOUT_MS, false);
    },
    isFresh: async ({ projectId, config, profileId }, { record }) => {
      if (config.refresh_on_profile_update !== true || profileId === null) return true;
      const now = await profiles.lookUp(projectId, { id: profileId });
      return now !== null && record.profile?.updatedAt.getTime() === now.updatedAt.getTime();
    },
    lease: async (session, { name, tags, start_url: startUrl, telemetry: wanted, invocationId }) => {
      const { record } = session;
      const assertNameFree = (): void => {
        if (name !== undefined) registry.assertNameFree(record.projectId, name);
      };
      assertNameFree();
      const { telemetry } = record;
      telemetry.exclude(exclusionsOf(wanted) ?? telemetry.excluded());
      await telemetry.select(selectionOnUpdate(telemetry.selection(), wanted));
      // Another session may have taken the name meanwhile.
      assertNameFree();
      record.name = name;
      record.tags = tags;
      record.invocationId = invocationId;
      record.startUrl = startUrl ?? record.startUrl;
      record.idle = false;
      openStartUrl(session, startUrl);
    },
    end: (session, cause) =>
      // The lifecycle logs failures.
      lifecycle.end(session, cause).catch(() => undefined),
  };
}
