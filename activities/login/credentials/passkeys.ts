import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import type { Passkey } from '../../../contract/passkeys.ts';
import { mayUsePasskey } from '../allowed-sites.ts';
import { isExternalId } from '../../../credential-providers/external-credentials.ts';
import { openPasskeys } from './attached-credential.ts';
import type { LoginDeps } from '../deps.ts';

/** The passkeys of running logins: each page has a virtual authenticator that answers without a person. */
export interface Passkeys {
  /**
   * Adds an authenticator to the session's present and future pages, with those passkeys of the attached credential whose sites the
   * connection allows. Without any, prompts are declined at once instead of waiting for a device. The creation of passkeys is
   * declined until `allowCreation`. Idempotent.
   */
  prepare(target: LoginTarget, sessionId: string): Promise<void>;
  /** Allows the site to create passkeys: a person has agreed. */
  allowCreation(target: LoginTarget, sessionId: string): Promise<void>;
  /** Returns the passkeys created in the session since the last call. */
  takeCreated(target: LoginTarget, sessionId: string): Promise<Passkey[]>;
  /** Updates the sign counts of the credential's passkeys, also in the store if it is a stored credential. */
  saveSignCounts(target: LoginTarget, sessionId: string): Promise<void>;
}

/** The passkeys of one browser context. Lost with the connection to the browser, and recreated with the next one. */
interface ContextPasskeys {
  /** Stored credential whose counts are updated; null without one, and for external credentials. */
  storedId: string | null;
  /** The credential's passkeys and those already returned as created, by credential id. */
  known: Map<string, Passkey>;
  authenticators: Map<Page, Promise<Authenticator | null>>;
}

interface Authenticator {
  cdp: CDPSession;
  authenticatorId: string;
}

/** Like a personal computer whose passkeys are backed up. */
const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** Makes Chromium's authenticator keep the sign count at 0. */
const NO_COUNT = -1;

/** Creates the passkeys of a worker's logins. Their values go nowhere but the browser and the vault. */
export function createPasskeys(
  deps: Pick<LoginDeps, 'store' | 'pages' | 'externalCredentials'>,
  clock: () => number = Date.now,
): Passkeys {
  const { store, pages } = deps;
  const contexts = new WeakMap<BrowserContext, Promise<ContextPasskeys>>();

  const createFor = async (
    context: BrowserContext,
    target: LoginTarget,
    sessionId: string,
  ): Promise<ContextPasskeys> => {
    const { credentialId = null, passkeys = [] } = (await openPasskeys(deps, target)) ?? {};
    const isStored = credentialId !== null && !isExternalId(credentialId);
    const usable = passkeys.filter(({ rp_id: site }) => mayUsePasskey(site, target));
    const held: ContextPasskeys = {
      storedId: isStored ? credentialId : null,
      known: new Map(usable.map((each) => [each.credential_id, isStored ? each : withClockCount(each, clock())])),
      authenticators: new Map(),
    };
    await context.addInitScript({ content: blockCreationScript(creationEvent(sessionId)) });
    context.on('page', (page) => void attachAuthenticator(held, page));
    return held;
  };

  const passkeysOf = async (target: LoginTarget, sessionId: string): Promise<{ held: ContextPasskeys; page: Page }> => {
    const page = await pages.of(target.projectId, sessionId);
    const context = page.context();
    const known = contexts.get(context);
    const made = known ?? createFor(context, target, sessionId);
    if (known === undefined) contexts.set(context, made);
    try {
      const held = await made;
      await Promise.all(context.pages().map((each) => attachAuthenticator(held, each)));
      return { held, page };
    } catch (error) {
      contexts.delete(context);
      throw error;
    }
  };

  /** The passkeys that the authenticators of open pages hold now. */
  const readAll = async (held: ContextPasskeys): Promise<Passkey[]> => {
    const all = await Promise.all([...held.authenticators.values()].map(async (each) => readPasskeys(await each)));
    return all.flat();
  };

  return {
    prepare: async (target, sessionId) => {
      await passkeysOf(target, sessionId);
    },
    allowCreation: async (target, sessionId) => {
      const { page } = await passkeysOf(target, sessionId);
      const allow = `document.dispatchEvent(new Event(${JSON.stringify(creationEvent(sessionId))}))`;
      await page.context().addInitScript({ content: allow });
      // Fails for frames that are detached meanwhile.
      await Promise.all(page.frames().map((frame) => frame.evaluate(allow).catch(() => undefined)));
    },
    takeCreated: async (target, sessionId) => {
      const { held } = await passkeysOf(target, sessionId);
      const created = (await readAll(held)).filter(
        ({ credential_id: id, rp_id: site }) => !held.known.has(id) && mayUsePasskey(site, target),
      );
      for (const passkey of created) held.known.set(passkey.credential_id, passkey);
      return created;
    },
    saveSignCounts: async (target, sessionId) => {
      const { held } = await passkeysOf(target, sessionId);
      const { storedId, known } = held;
      if (known.size === 0) return;
      const increased = (await readAll(held)).filter(({ credential_id: id, sign_count: count }) => {
        const before = known.get(id);
        return before !== undefined && before.sign_count > 0 && count > before.sign_count;
      });
      if (increased.length === 0) return;
      const counts = new Map(increased.map(({ credential_id: id, sign_count: count }) => [id, count]));
      if (storedId !== null) await store.credentials.recordSignCounts(storedId, counts);
      for (const passkey of increased) known.set(passkey.credential_id, passkey);
    },
  };

  async function attachAuthenticator(held: ContextPasskeys, page: Page): Promise<Authenticator | null> {
    const known = held.authenticators.get(page);
    const authenticator = await known;
    // A debugger that detaches from the page removes its authenticators.
    if (authenticator !== undefined && (authenticator === null || (await isAttached(authenticator))))
      return authenticator;
    const meanwhile = held.authenticators.get(page);
    if (meanwhile !== known && meanwhile !== undefined) return await meanwhile;
    // Fails for a page that closes meanwhile. The error is dropped, because it may quote what was sent.
    const made = addAuthenticator(page, [...held.known.values()]).catch(() => null);
    held.authenticators.set(page, made);
    page.once('close', () => held.authenticators.delete(page));
    return await made;
  }
}

async function addAuthenticator(page: Page, passkeys: readonly Passkey[]): Promise<Authenticator> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
  for (const { rp_id: rpId, sign_count: count, ...passkey } of passkeys)
    await cdp.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: {
        rpId,
        isResidentCredential: true,
        credentialId: toBase64(passkey.credential_id),
        userHandle: toBase64(passkey.user_handle),
        privateKey: toBase64(passkey.private_key),
        signCount: count === 0 ? NO_COUNT : count,
        // A passkey without a count is a synchronized one.
        backupEligibility: count === 0,
        backupState: count === 0,
        ...(passkey.user_name === undefined ? {} : { userName: passkey.user_name }),
        ...(passkey.user_display_name === undefined ? {} : { userDisplayName: passkey.user_display_name }),
      },
    });
  return { cdp, authenticatorId };
}

async function isAttached({ cdp, authenticatorId }: Authenticator): Promise<boolean> {
  return await cdp.send('WebAuthn.getCredentials', { authenticatorId }).then(
    () => true,
    () => false,
  );
}

/** The passkeys that an authenticator holds; none once its page is closed. */
async function readPasskeys(authenticator: Authenticator | null): Promise<Passkey[]> {
  if (authenticator === null) return [];
  const { cdp, authenticatorId } = authenticator;
  const { credentials } = await cdp
    .send('WebAuthn.getCredentials', { authenticatorId })
    .catch(() => ({ credentials: [] }));
  return credentials.flatMap(({ rpId, userHandle, signCount, ...credential }) =>
    rpId === undefined || userHandle === undefined
      ? []
      : [
          {
            rp_id: rpId,
            credential_id: fromBase64(credential.credentialId),
            user_handle: fromBase64(userHandle),
            private_key: fromBase64(credential.privateKey),
            sign_count: Math.max(0, signCount),
            ...(credential.userName === undefined ? {} : { user_name: credential.userName }),
            ...(credential.userDisplayName === undefined ? {} : { user_display_name: credential.userDisplayName }),
          },
        ],
  );
}

/** Counts by the clock if a passkey cannot be updated where it is stored, so that its count grows on any worker. */
function withClockCount(passkey: Passkey, nowMs: number): Passkey {
  const { sign_count: count } = passkey;
  return count === 0 ? passkey : { ...passkey, sign_count: Math.max(count, Math.floor(nowMs / 1000)) };
}

/** Name of the event that allows creation, known only to this session's script. */
function creationEvent(sessionId: string): string {
  return `passkey-agreed-${sessionId}`;
}

/** Init script. Uses a proxy rather than a function because a proxy still prints as native code. */
function blockCreationScript(allowEvent: string): string {
  return `(() => {
  if (typeof CredentialsContainer === 'undefined') return;
  let isAllowed = false;
  document.addEventListener(${JSON.stringify(allowEvent)}, () => { isAllowed = true; });
  CredentialsContainer.prototype.create = new Proxy(CredentialsContainer.prototype.create, {
    apply: (create, container, [options, ...rest]) =>
      isAllowed || !options?.publicKey
        ? Reflect.apply(create, container, [options, ...rest])
        : Promise.reject(new DOMException('The operation either timed out or was not allowed.', 'NotAllowedError')),
  });
})();`;
}

function toBase64(text: string): string {
  return Buffer.from(text, 'base64url').toString('base64');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('base64url');
}
