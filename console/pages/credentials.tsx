import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Credential } from '../../contract/credentials.ts';
import { call } from '../calls/call.ts';
import { RemoveButton } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { credentialWords as words } from '../words/credentials.ts';

const PATH = '/credentials';

/** Stored credentials. Their values are never shown again. */
export default function Credentials(): ReactNode {
  return (
    <Page title={words.title} actions={<CreateCredential />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<Credential>
        label={words.title}
        search={words.search}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <CreateCredential /> }}
        columns={[
          { label: commonWords.name, cell: ({ id, name }) => <Link href={`/credentials/${id}`}>{name}</Link> },
          { label: words.domain, cell: ({ domain }) => domain },
          { label: words.holds, cell: credentialSummary },
          { label: words.changed, cell: ({ updated_at: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

function CreateCredential(): ReactNode {
  const [, navigate] = useLocation();
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PATH]}
      onSubmit={async ({ name, domain, username, password, totp_secret: totp, sso_provider: sso }) => {
        const made = await call<Credential>('POST', PATH, {
          name,
          domain,
          values: { ...optionalField('username', username), ...optionalField('password', password) },
          ...optionalField('totp_secret', totp),
          ...optionalField('sso_provider', sso),
        });
        navigate(`/credentials/${made.id}`);
      }}
    >
      <TextInput name="name" label={commonWords.name} required />
      <TextInput name="domain" label={words.domain} hint={words.domainHint} required />
      <TextInput name="username" label={words.username} />
      <TextInput
        name="password"
        label={commonWords.password}
        hint={words.sealed}
        type="password"
        autoComplete="new-password"
      />
      <TextInput name="totp_secret" label={words.totp} hint={words.totpHint} type="password" />
      <TextInput name="sso_provider" label={words.sso} hint={words.ssoHint} />
    </FormButton>
  );
}

/** What a credential contains, in words. */
function credentialSummary(credential: Credential): string {
  const parts = [
    credential.has_values ? words.hasValues : null,
    credential.has_totp_secret ? words.hasTotp : null,
    credential.has_passkeys ? words.hasPasskeys : null,
    credential.sso_provider === null ? null : `${words.by} ${credential.sso_provider}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? words.nothing : parts.join(', ');
}

/** One credential: names of its values, and inputs for new ones. */
export function CredentialPage({ id }: { id: string }): ReactNode {
  const query = useResource<Credential>(`/credentials/${id}`);
  return <Loaded query={query}>{(credential) => <CredentialDetail credential={credential} />}</Loaded>;
}

function CredentialDetail({ credential }: { credential: Credential }): ReactNode {
  const path = `/credentials/${credential.id}`;
  const change = (body: object): Promise<void> => call('PATCH', path, body);
  const invalidates = [path, '/credentials'];
  return (
    <Page
      title={credential.name}
      back={{ href: '/credentials', label: words.title }}
      actions={<RemoveButton path={path} list="/credentials" words={words} />}
    >
      <Section
        title={words.holds}
        actions={
          <div className="actions">
            <FormButton
              label={words.setValue}
              done={words.saved}
              invalidates={invalidates}
              onSubmit={({ key = '', value = '' }) => change({ values: { [key]: value } })}
            >
              <TextInput name="key" label={words.valueName} hint={words.valueNameHint} initial="password" required />
              <TextInput
                name="value"
                label={words.value}
                hint={words.sealed}
                type="password"
                autoComplete="new-password"
                required
              />
            </FormButton>
            <FormButton
              label={words.setTotp}
              done={words.saved}
              invalidates={invalidates}
              onSubmit={({ totp_secret: totp }) => change({ totp_secret: totp })}
            >
              <TextInput name="totp_secret" label={words.totp} hint={words.totpClear} type="password" />
            </FormButton>
          </div>
        }
      >
        <Facts
          facts={[
            [words.domain, credential.domain],
            [words.holds, credentialSummary(credential)],
            [words.values, credential.value_keys?.join(', ')],
            [words.passkeys, credential.passkeys?.map(({ rp_id: site }) => site).join(', ')],
            [words.changed, <When key="changed" at={credential.updated_at} />],
          ]}
        />
      </Section>
    </Page>
  );
}
