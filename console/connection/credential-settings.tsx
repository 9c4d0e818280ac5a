import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { CredentialReference, ManagedAuth } from '../../contract/connections.ts';
import type { CredentialProvider } from '../../contract/credential-providers.ts';
import type { Credential } from '../../contract/credentials.ts';
import { call } from '../calls/call.ts';
import { Loaded, useResource } from '../parts/resource.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { commonWords } from '../words/common.ts';
import { settingsWords as words } from '../words/connection-settings.ts';
import { connectionWords } from '../words/connections.ts';
import { credentialWords } from '../words/credentials.ts';
import { fill } from '../words/language.ts';
import { SettingsSection } from './settings.tsx';

const STORED = 'stored:';
const PROVIDER = 'provider:';
const PAGE = '?limit=100';

/** Which credential a connection uses: a stored one, one from a password store, or none. Values are never shown. */
export function CredentialSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  const stored = useResource<Credential[]>(`/credentials${PAGE}`);
  const providers = useResource<CredentialProvider[]>(`/org/credential_providers${PAGE}`);
  const attached = stored.data?.find(({ name }) => name === connection.credential?.name);
  return (
    <SettingsSection
      title={words.credential}
      text={words.credentialHint}
      connection={connection}
      changesOf={(values) => ({ credential: referenceOf(values['credential'] ?? '', values['credential.path'] ?? '') })}
      below={
        <div className="actions">
          <NewCredential connection={connection} />
          {attached === undefined ? null : (
            <Link href={`/credentials/${attached.id}`} className="button button-plain">
              {fill(words.replace, { name: attached.name })}
            </Link>
          )}
        </div>
      }
    >
      <Loaded query={stored}>
        {(credentials) => (
          <Loaded query={providers}>
            {(stores) => (
              <Choice
                // Reselects a credential that was just created.
                key={chosenOf(connection.credential)}
                reference={connection.credential}
                credentials={credentials}
                stores={stores}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </SettingsSection>
  );
}

function Choice({
  reference,
  credentials,
  stores,
}: {
  reference: CredentialReference | undefined;
  credentials: readonly Credential[];
  stores: readonly CredentialProvider[];
}): ReactNode {
  const initial = chosenOf(reference);
  const [chosen, setChosen] = useState(initial);
  const options = [
    { value: '', label: words.credentialNone },
    ...credentials.map(({ name }) => ({ value: STORED + name, label: fill(words.credentialStored, { name }) })),
    ...stores.map(({ name }) => ({ value: PROVIDER + name, label: fill(words.credentialProvider, { name }) })),
  ];
  // Keep the current setting selectable even if it no longer exists.
  if (!options.some(({ value }) => value === initial))
    options.push({ value: initial, label: reference?.name ?? reference?.provider ?? '' });
  return (
    <>
      <SelectInput
        name="credential"
        label={connectionWords.credential}
        options={options}
        initial={initial}
        onChange={setChosen}
      />
      {chosen.startsWith(PROVIDER) ? (
        <TextInput name="credential.path" label={words.item} hint={words.itemHint} initial={reference?.path ?? ''} />
      ) : null}
    </>
  );
}

function chosenOf(reference: CredentialReference | undefined): string {
  if (reference?.name !== undefined) return STORED + reference.name;
  return reference?.provider === undefined ? '' : PROVIDER + reference.provider;
}

function referenceOf(chosen: string, path: string): CredentialReference | null {
  if (chosen.startsWith(STORED)) return { name: chosen.slice(STORED.length) };
  if (!chosen.startsWith(PROVIDER)) return null;
  return { provider: chosen.slice(PROVIDER.length), ...(path === '' ? { auto: true } : { path }) };
}

/** Creates a credential and assigns it to the connection. */
function NewCredential({ connection: { id, domain, profile_name: profile } }: { connection: ManagedAuth }): ReactNode {
  const path = `/auth/connections/${id}`;
  return (
    <FormButton
      label={words.newCredential}
      title={fill(words.newCredentialTitle, { domain })}
      done={words.attached}
      invalidates={[path, `/credentials${PAGE}`, '/credentials']}
      onSubmit={async ({ name = '', username, password, totp_secret: totp }) => {
        await call<Credential>('POST', '/credentials', {
          name,
          domain,
          values: { ...optionalField('username', username), ...optionalField('password', password) },
          ...optionalField('totp_secret', totp),
        });
        await call('PATCH', path, { credential: { name } });
      }}
    >
      <TextInput name="name" label={commonWords.name} initial={`${domain} ${profile}`} required />
      <TextInput name="username" label={credentialWords.username} />
      <TextInput
        name="password"
        label={commonWords.password}
        hint={credentialWords.sealed}
        type="password"
        autoComplete="new-password"
      />
      <TextInput name="totp_secret" label={credentialWords.totp} hint={credentialWords.totpHint} type="password" />
    </FormButton>
  );
}
