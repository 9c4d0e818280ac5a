import { describe, expect, it } from 'vitest';
import type { ExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { newEd25519Passkey, newPasskey } from '../setup/passkey.ts';
import {
  bitwardenItem,
  bitwardenVault,
  bitwardenVaultAnswers,
  saveElsewhere,
  type BitwardenVault,
} from './bitwarden-stand-in.ts';
import { connectTo, TARGET } from './connected-store.ts';
import { add, readAgain, told, TITLED } from './new-passkeys.ts';

const NEW = newPasskey('made by the site');

describe('a new passkey in Bitwarden', () => {
  /** Connects to a vault in which `meanwhile` happens just before each of its writes, told which it is. */
  const connect = (vault: BitwardenVault, meanwhile: (write: number) => void = () => undefined) => {
    let writes = 0;
    return connectTo('bitwarden', (call) => {
      if (call.method === 'PUT') meanwhile(++writes);
      return bitwardenVaultAnswers(vault)(call);
    });
  };
  const held = async (external: ExternalCredentials): Promise<string[]> =>
    (await readAgain(external)).map(({ credential_id }) => credential_id);

  it("is added to the login in Bitwarden's format, once, and keeps the rest", async () => {
    const vault = bitwardenVault();
    const { external, stand } = await connect(vault);
    const named = { ...NEW, user_name: 'ann', user_display_name: 'Ann', sign_count: 1 };
    await add(external, named, TITLED);
    await add(external, named, TITLED);
    const before = bitwardenItem();
    const { fido2Credentials = [], ...login } = vault.server.login;
    const { fido2Credentials: passkeysBefore = [], ...loginBefore } = before.login;
    expect({ ...vault.server, login, revisionDate: '' }).toEqual({ ...before, login: loginBefore, revisionDate: '' });
    expect(fido2Credentials.slice(0, -1)).toEqual(passkeysBefore);
    expect(fido2Credentials.at(-1)).toMatchObject({
      credentialId: `b64.${NEW.credential_id}`,
      keyType: 'public-key',
      keyAlgorithm: 'ECDSA',
      keyCurve: 'P-256',
      counter: '1',
      discoverable: 'true',
    });
    expect(stand.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    expect((await readAgain(external)).at(-1)).toEqual(named);
  });

  it('keeps what another device has saved since the last sync', async () => {
    const vault = bitwardenVault();
    const { external } = await connect(vault);
    saveElsewhere(vault, { notes: 'saved elsewhere' }, new Date('2026-02-02T00:00:00Z'));
    await add(external, NEW, TITLED);
    expect(vault.server['notes']).toBe('saved elsewhere');
    expect(await held(external)).toContain(NEW.credential_id);
  });

  it('is retried once after a concurrent change, but not twice', async () => {
    const vault = bitwardenVault();
    const other = newPasskey('another');
    const days = ['2026-02-02T00:00:00Z', '', '2026-03-03T00:00:00Z', '2026-04-04T00:00:00Z'];
    const { external } = await connect(vault, (write) => {
      const day = days[write - 1] ?? '';
      if (day !== '') saveElsewhere(vault, { notes: day }, new Date(day));
    });
    await add(external, NEW, TITLED);
    expect(vault.server['notes']).toBe(days[0]);
    expect(await held(external)).toContain(NEW.credential_id);
    const { code, text } = await told(add(external, other, TITLED));
    expect(code).toBe('credential_provider_unavailable');
    expect(text).not.toContain(other.private_key);
    expect(vault.server['notes']).toBe(days[3]);
    expect(JSON.stringify(vault.server)).not.toContain(other.private_key);
  });

  it('does not overwrite another change within the same second, which the server cannot detect', async () => {
    const vault = bitwardenVault();
    const now = Date.parse('2026-02-02T00:00:00Z');
    saveElsewhere(vault, { notes: 'just now' }, new Date(now));
    const answers = bitwardenVaultAnswers(vault);
    let readings = 0;
    let isInStep = false;
    const { external } = await connectTo(
      'bitwarden',
      (call) => {
        const answer = answers(call);
        const isReading = call.method === 'GET' && call.path === '/object/item/b1' && isInStep;
        // The first reading after `sync` has been answered when the other device saves.
        if (isReading && ++readings === 1) saveElsewhere(vault, { notes: 'half a second later' }, new Date(now + 500));
        if (call.path === '/sync') isInStep = true;
        return answer;
      },
      {},
      () => now,
    );
    await add(external, NEW, TITLED);
    expect(readings).toBeGreaterThan(1);
    expect(vault.server['notes']).toBe('half a second later');
    expect(await held(external)).toContain(NEW.credential_id);
  });

  it('is written only once if the response is lost', async () => {
    const vault = bitwardenVault();
    let lost = 1;
    const { external } = await connectTo('bitwarden', (call) => {
      const answer = bitwardenVaultAnswers(vault)(call);
      return call.method === 'PUT' && lost-- > 0 ? [502, {}] : answer;
    });
    expect((await told(add(external, NEW, TITLED))).code).toBe('credential_provider_unavailable');
    await add(external, NEW, TITLED);
    const written = (vault.server.login.fido2Credentials ?? []).map(({ credentialId }) => credentialId);
    expect(written.filter((id) => id === `b64.${NEW.credential_id}`)).toHaveLength(1);
  });

  it('with an unsupported key type is stored in a hidden field', async () => {
    const vault = bitwardenVault();
    const { external } = await connect(vault);
    const edwards = newEd25519Passkey('of another curve');
    await add(external, edwards, TITLED);
    expect(vault.server.login).toEqual(bitwardenItem().login);
    expect(vault.server['fields']).toContainEqual({ name: 'passkey', value: JSON.stringify(edwards), type: 1 });
    expect(await readAgain(external)).toContainEqual(edwards);
  });

  it('is not offered if `bw serve` does not support passkeys, since it would drop existing ones', async () => {
    const { fido2Credentials: _unknown, ...login } = bitwardenItem().login;
    const { external } = await connect(bitwardenVault({ ...bitwardenItem(), login }));
    expect((await external.find(TARGET, TITLED)).facts.takesPasskeys).toBeUndefined();
    expect((await told(add(external, NEW, TITLED))).code).toBe('credential_provider_refused');
  });
});
