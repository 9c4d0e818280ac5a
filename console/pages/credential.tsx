import type { ReactNode } from 'react';
import type { Credential } from '../../contract/credentials.ts';
import { call } from '../calls/call.ts';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { Page, Section } from '../parts/page.tsx';
import { RemoveButton } from '../parts/actions.tsx';
import { When } from '../parts/when.tsx';
import { credentialWords as words } from '../words/credentials.ts';
import { credentialSummary } from './credentials.tsx';

/** One credential: what it holds by name, and new values for it. */
export default function CredentialPage({ id }: { id: string }): ReactNode {
  const read = useResource<Credential>(`/credentials/${id}`);
  return <Loaded read={read}>{(credential) => <CredentialDetail credential={credential} />}</Loaded>;
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
