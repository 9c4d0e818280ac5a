import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Credential } from '../../contract/credentials.ts';
import { call } from '../calls/call.ts';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { credentialWords as words } from '../words/credentials.ts';

const PATH = '/credentials';

/** What Holdfast logs in with by itself. Nothing that is entered here is shown again. */
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

/** What a credential holds, in words. */
export function credentialSummary(credential: Credential): string {
  const parts = [
    credential.has_values ? words.hasValues : null,
    credential.has_totp_secret ? words.hasTotp : null,
    credential.has_passkeys ? words.hasPasskeys : null,
    credential.sso_provider === null ? null : `${words.by} ${credential.sso_provider}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? words.nothing : parts.join(', ');
}
