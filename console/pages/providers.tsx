import type { ReactNode } from 'react';
import type { CredentialProvider } from '../../contract/credential-providers.ts';
import { call, CallError } from '../calls/call.ts';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { toastSuccess } from '../parts/toasts.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { providerWords as words } from '../words/providers.ts';

const PATH = '/org/credential_providers';
const TYPES = ['onepassword', 'vault', 'bitwarden', 'aws_secrets_manager'] as const;

/** External secret stores that logins read credentials from. */
export default function Providers(): ReactNode {
  return (
    <Page title={words.title} actions={<AddProvider />}>
      <p className="lead">{words.text}</p>
      <ListTable<CredentialProvider>
        label={words.title}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <AddProvider /> }}
        columns={[
          { label: commonWords.name, cell: ({ name }) => name },
          { label: commonWords.type, cell: ({ provider_type: type }) => words[type] },
          { label: words.address, cell: ({ address, region }) => address ?? region ?? '–' },
          {
            label: commonWords.state,
            cell: ({ enabled }) => (
              <Badge tone={enabled ? 'good' : 'idle'}>{enabled ? words.enabled : words.disabled}</Badge>
            ),
          },
          { label: words.changed, cell: ({ updated_at: at }) => <When at={at} /> },
          { label: commonWords.actions, acts: true, cell: (provider) => <ProviderActions provider={provider} /> },
        ]}
      />
    </Page>
  );
}

function AddProvider(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.add}
      done={words.added}
      invalidates={[PATH]}
      onSubmit={({ name, provider_type: type, token, address, region }) =>
        call('POST', PATH, {
          name,
          provider_type: type,
          token,
          ...optionalField('address', address),
          ...optionalField('region', region),
        })
      }
    >
      <TextInput name="name" label={commonWords.name} required />
      <SelectInput
        name="provider_type"
        label={commonWords.type}
        options={TYPES.map((value) => ({ value, label: words[value] }))}
      />
      <TextInput name="address" label={words.address} hint={words.addressHint} type="url" />
      <TextInput name="region" label={words.region} />
      <TextInput
        name="token"
        label={words.token}
        hint={words.tokenHint}
        type="password"
        autoComplete="new-password"
        required
      />
    </FormButton>
  );
}

function ProviderActions({ provider }: { provider: CredentialProvider }): ReactNode {
  const path = `${PATH}/${provider.id}`;
  const perform = useAction([PATH]);
  const test = async (): Promise<void> => {
    const { success, error, vaults } = await call<{ success: boolean; error?: string; vaults: { name: string }[] }>(
      'POST',
      `${path}/test`,
    );
    if (!success) throw new CallError(0, { code: 'not_reached', message: error ?? words.notReached });
    toastSuccess(`${words.reached}: ${vaults.map(({ name }) => name).join(', ')}`);
  };
  return (
    <div className="actions">
      <ActionButton kind="quiet" label={words.test} onAct={test} />
      <ActionButton
        kind="quiet"
        label={provider.enabled ? words.disable : words.enable}
        onAct={() => perform(words.saved, () => call('PATCH', path, { enabled: !provider.enabled }))}
      />
      <FormButton
        kind="quiet"
        label={words.newToken}
        done={words.saved}
        invalidates={[PATH]}
        onSubmit={({ token }) => call('PATCH', path, { token })}
      >
        <TextInput
          name="token"
          label={words.token}
          hint={words.tokenHint}
          type="password"
          autoComplete="new-password"
          required
        />
      </FormButton>
      <ConfirmButton
        title={words.removeTitle}
        text={words.removeText}
        onConfirm={() => perform(words.removed, () => call('DELETE', path))}
      />
    </div>
  );
}
