import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import type { Passkey } from '../../../contract/passkeys.ts';
import { mayUsePasskey } from '../allowed-sites.ts';
import { isExternalId } from '../../../credential-providers/external-credentials.ts';
import { openPasskeys } from './attached-credential.ts';
import type { LoginDeps } from '../deps.ts';

/** The passkeys of running logins: each page of their browsers has an authenticator that answers without a person. */
export interface Passkeys {
  /**
   * Gives the session's pages, those that open later too, an authenticator with the passkeys of the attached credential
   * whose sites the connection allows. Without any, a site's prompt is declined at once instead of waiting for a device. A
   * site's wish to create one is declined until `allowCreation`. Repeating it does nothing.
   */
  prepare(target: LoginTarget, sessionId: string): Promise<void>;
  /** From now on the site may create a passkey: somebody has agreed to it. */
  allowCreation(target: LoginTarget, sessionId: string): Promise<void>;
  /** Passkeys that were created in the session and not answered before. */
  takeCreated(target: LoginTarget, sessionId: string): Promise<Passkey[]>;
  /** Notes how often the credential's passkeys have signed, and writes it to a stored one. */
  saveSignCounts(target: LoginTarget, sessionId: string): Promise<void>;
}

/** What a session's browser holds. It is gone with the connection to the browser, and made anew with the next one. */
interface Holder {
  /** Where counts are written to; null without a credential, and for one in an external secret store. */
  storedId: string | null;
  /** By credential id: those of the credential, and those that were answered as created. */
  known: Map<string, Passkey>;
  authenticators: Map<Page, Promise<Authenticator | null>>;
}

interface Authenticator {
  cdp: CDPSession;
  authenticatorId: string;
}

/** As it is in the computer of a person, whose passkeys are backed up. */
const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** Chromium's authenticator takes this for a count that stays at 0. */
const NO_COUNT = -1;

/** Makes the passkeys of a worker's logins. No value of one leaves it but to the browser and the vault. */
export function createPasskeys(
  deps: Pick<LoginDeps, 'store' | 'pages' | 'externalCredentials'>,
  clock: () => number = Date.now,
): Passkeys {
  const { store, pages } = deps;
  const holders = new WeakMap<BrowserContext, Promise<Holder>>();

  const hold = async (context: BrowserContext, target: LoginTarget, sessionId: string): Promise<Holder> => {
    const { credentialId = null, passkeys = [] } = (await openPasskeys(deps, target)) ?? {};
    const isStored = credentialId !== null && !isExternalId(credentialId);
    const usable = passkeys.filter(({ rp_id: site }) => mayUsePasskey(site, target));
    const holder: Holder = {
      storedId: isStored ? credentialId : null,
      known: new Map(usable.map((each) => [each.credential_id, isStored ? each : withClockCount(each, clock())])),
      authenticators: new Map(),
    };
    await context.addInitScript({ content: blockCreationScript(creationEvent(sessionId)) });
    context.on('page', (page) => void arm(holder, page));
    return holder;
  };

  const holderOf = async (target: LoginTarget, sessionId: string): Promise<{ holder: Holder; page: Page }> => {
    const page = await pages.of(target.projectId, sessionId);
    const context = page.context();
    const known = holders.get(context);
    const made = known ?? hold(context, target, sessionId);
    if (known === undefined) holders.set(context, made);
    try {
      const holder = await made;
      await Promise.all(context.pages().map((each) => arm(holder, each)));
      return { holder, page };
    } catch (error) {
      holders.delete(context);
      throw error;
    }
  };

  /** The authenticators of pages that are still there, with what they hold. */
  const seen = async (holder: Holder): Promise<Passkey[]> => {
    const all = await Promise.all([...holder.authenticators.values()].map(async (each) => read(await each)));
    return all.flat();
  };

  return {
    prepare: async (target, sessionId) => {
      await holderOf(target, sessionId);
    },
    allowCreation: async (target, sessionId) => {
      const { page } = await holderOf(target, sessionId);
      const agree = `document.dispatchEvent(new Event(${JSON.stringify(creationEvent(sessionId))}))`;
      await page.context().addInitScript({ content: agree });
      // A frame that goes away meanwhile asks for nothing more.
      await Promise.all(page.frames().map((frame) => frame.evaluate(agree).catch(() => undefined)));
    },
    takeCreated: async (target, sessionId) => {
      const { holder } = await holderOf(target, sessionId);
      const created = (await seen(holder)).filter(
        ({ credential_id: id, rp_id: site }) => !holder.known.has(id) && mayUsePasskey(site, target),
      );
      for (const passkey of created) holder.known.set(passkey.credential_id, passkey);
      return created;
    },
    saveSignCounts: async (target, sessionId) => {
      const { holder } = await holderOf(target, sessionId);
      const { storedId, known } = holder;
      if (known.size === 0) return;
      const grown = (await seen(holder)).filter(({ credential_id: id, sign_count: count }) => {
        const before = known.get(id);
        return before !== undefined && before.sign_count > 0 && count > before.sign_count;
      });
      if (grown.length === 0) return;
      const counts = new Map(grown.map(({ credential_id: id, sign_count: count }) => [id, count]));
      if (storedId !== null) await store.credentials.noteSignCounts(storedId, counts);
      for (const passkey of grown) known.set(passkey.credential_id, passkey);
    },
  };

  async function arm(holder: Holder, page: Page): Promise<Authenticator | null> {
    const known = holder.authenticators.get(page);
    const authenticator = await known;
    // Another debugger that has let go of the page took the authenticator with it.
    if (authenticator !== undefined && (authenticator === null || (await isAttached(authenticator))))
      return authenticator;
    const meanwhile = holder.authenticators.get(page);
    if (meanwhile !== known && meanwhile !== undefined) return await meanwhile;
    // A page that closes meanwhile needs none; what a browser answers may quote what it was sent.
    const made = addAuthenticator(page, [...holder.known.values()]).catch(() => null);
    holder.authenticators.set(page, made);
    page.once('close', () => holder.authenticators.delete(page));
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
        // One that does not count is a synchronized one, and says so.
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

/** What an authenticator holds now; nothing once its page is gone. */
async function read(authenticator: Authenticator | null): Promise<Passkey[]> {
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

/**
 * A passkey whose count cannot be written back to where it lies: the seconds of the clock count in its place, so that each
 * login signs with a greater count than the one before, whichever worker runs it.
 */
function withClockCount(passkey: Passkey, nowMs: number): Passkey {
  const { sign_count: count } = passkey;
  return count === 0 ? passkey : { ...passkey, sign_count: Math.max(count, Math.floor(nowMs / 1000)) };
}

/** An event that only this session's own script knows by name. */
function creationEvent(sessionId: string): string {
  return `passkey-agreed-${sessionId}`;
}

/** Runs before a page's own scripts; a proxy, not a function of ours: it calls itself native, as the browser's own does. */
function blockCreationScript(agreement: string): string {
  return `(() => {
  if (typeof CredentialsContainer === 'undefined') return;
  let agreed = false;
  document.addEventListener(${JSON.stringify(agreement)}, () => { agreed = true; });
  CredentialsContainer.prototype.create = new Proxy(CredentialsContainer.prototype.create, {
    apply: (create, container, [options, ...rest]) =>
      agreed || !options?.publicKey
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
