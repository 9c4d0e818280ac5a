import type { EnterInput } from '../../../contract/activities.ts';
import { Passkey } from '../../../contract/passkeys.ts';
import { normalizeTotpSecret } from '../../../contract/totp-secret.ts';
import type { CredentialPatch } from '../../../store/queries/credential-patch.ts';
import type { Store } from '../../../store/store.ts';

/*
 * What a login adds to its credential: values that a person typed and passkeys that the site created. They stay sealed as a
 * submission until the login has succeeded.
 */

/** A value, the name it is saved under, and the origin of the document it was typed into. */
export interface TypedValue {
  ref: string;
  origin: string;
  text: string;
}

type Submissions = Pick<Store, 'submissions'>;

/** Name of the submission that holds an entry's pending values. Cleanup after a lost worker finds them by it. */
export function pendingValuesKey(flowId: string, entryId: string): string {
  return `kept:${flowId}:${entryId}`;
}

/** Seals `added` with the values already pending under `pendingId`, which it replaces. Returns the new id. */
export async function addPendingValues(
  { submissions }: Submissions,
  { target, flowId, entryId, keepUntil }: Pick<EnterInput, 'target' | 'flowId' | 'entryId' | 'keepUntil'>,
  pendingId: string | null,
  added: TypedValue[],
): Promise<string | null> {
  if (added.length === 0) return pendingId;
  const earlier = await openPendingValues({ submissions }, pendingId);
  const replaced = new Set(added.map(({ ref }) => ref));
  const values = [...earlier.filter(({ ref }) => !replaced.has(ref)), ...added];
  const { submissionId } = await submissions.seal({
    connectionId: target.connectionId,
    interactionId: pendingValuesKey(flowId, entryId),
    // A name holds the `ref` and the origin.
    values: Object.fromEntries(values.map(({ ref, origin, text }) => [`${ref} ${origin}`, text])),
    expiresAt: new Date(keepUntil),
    withoutCodes: true,
  });
  if (pendingId !== null && pendingId !== submissionId) await submissions.destroy(pendingId);
  return submissionId;
}

/** Opens the pending values; none without an id or once they have expired. */
export async function openPendingValues({ submissions }: Submissions, pendingId: string | null): Promise<TypedValue[]> {
  const sealed = pendingId === null ? null : await submissions.open(pendingId);
  return Object.entries(sealed?.values ?? {}).map(([name, text]) => {
    // An origin contains no space; a `ref` may.
    const at = name.lastIndexOf(' ');
    return { ref: name.slice(0, at), origin: name.slice(at + 1), text };
  });
}

const PASSKEY = 'passkey:';

/** Represents a created passkey as a typed value, so that both are kept the same way until the login succeeds. */
export function passkeyToTypedValue(passkey: Passkey): TypedValue {
  return { ref: `${PASSKEY}${passkey.credential_id}`, origin: passkey.rp_id, text: JSON.stringify(passkey) };
}

/**
 * The changes that pending values make to a credential. `chosen`: the provider that was chosen and the URL of the page that offered
 * it. The credential belongs to the provider if its password (or else the last typed value) went to another origin than that page.
 */
export function toCredentialPatch(
  pending: readonly TypedValue[],
  chosen: { provider: string; at: string } | null,
): Required<Pick<CredentialPatch, 'values' | 'origins' | 'ssoProvider'>> &
  Pick<CredentialPatch, 'totpSecret' | 'passkeys'> {
  const typed = pending.filter(({ ref }) => !ref.startsWith(PASSKEY));
  const passkeys = pending
    .filter(({ ref }) => ref.startsWith(PASSKEY))
    .map(({ text }) => Passkey.parse(JSON.parse(text)));
  const secret = typed.find(({ ref }) => ref === 'totp_secret');
  const totpSecret = secret === undefined ? null : normalizeTotpSecret(secret.text);
  const decisive = typed.find(({ ref }) => ref === 'password') ?? typed.at(-1);
  const isProviders =
    chosen !== null &&
    URL.canParse(chosen.at) &&
    decisive !== undefined &&
    new URL(chosen.at).origin !== decisive.origin;
  return {
    values: Object.fromEntries(typed.filter((each) => each !== secret).map(({ ref, text }) => [ref, text])),
    origins: Object.fromEntries(typed.map(({ ref, origin }) => [ref, origin])),
    ssoProvider: isProviders ? chosen.provider : null,
    ...(totpSecret === null ? {} : { totpSecret }),
    ...(passkeys.length === 0 ? {} : { passkeys }),
  };
}
