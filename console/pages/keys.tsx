import type { ReactNode } from 'react';
import type { ApiKey } from '../../contract/api-keys.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { keyWords as words } from '../words/keys.ts';

const PATH = '/org/api_keys';

/** API keys. */
export default function Keys(): ReactNode {
  return (
    <Page title={words.title} actions={<CreateKey />}>
      <p className="lead">{words.text}</p>
      <ListTable<ApiKey>
        label={words.title}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <CreateKey /> }}
        columns={[
          { label: commonWords.name, cell: ({ name }) => name },
          { label: words.key, cell: ({ masked_key: key }) => <code>{key}</code> },
          { label: words.reaches, cell: ({ project_name: project }) => project ?? words.wholeOrganization },
          { label: words.madeBy, cell: ({ created_by: by }) => by.name ?? by.email },
          { label: commonWords.created, cell: ({ created_at: at }) => <When at={at} /> },
          { label: words.expires, cell: ({ expires_at: at }) => (at === null ? words.never : <When at={at} />) },
          { label: commonWords.actions, acts: true, cell: (key) => <KeyActions id={key.id} name={key.name} /> },
        ]}
      />
    </Page>
  );
}

function CreateKey(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PATH]}
      onSubmit={async ({ name, days_to_expire: days }) => {
        const body = { name, days_to_expire: days === '' ? null : Number(days) };
        return (await call<{ key: string }>('POST', PATH, body)).key;
      }}
    >
      <TextInput name="name" label={commonWords.name} hint={words.nameHint} required />
      <SelectInput
        name="days_to_expire"
        label={words.expires}
        initial="365"
        options={[
          ...[30, 90, 365].map((days) => ({ value: String(days), label: `${days} ${words.days}` })),
          { value: '', label: words.never },
        ]}
      />
    </FormButton>
  );
}

function KeyActions({ id, name }: { id: string; name: string }): ReactNode {
  const path = `${PATH}/${id}`;
  const perform = useAction([PATH]);
  return (
    <div className="actions">
      <FormButton
        label={words.rotate}
        title={`${words.rotate}: ${name}`}
        done={words.rotated}
        invalidates={[PATH]}
        onSubmit={async ({ expire_in_days: days }) =>
          (await call<{ key: string }>('POST', `${path}/rotate`, { expire_in_days: Number(days) })).key
        }
      >
        <TextInput
          name="expire_in_days"
          label={words.grace}
          hint={words.graceHint}
          initial="7"
          inputMode="numeric"
          required
        />
      </FormButton>
      <ConfirmButton
        label={words.revoke}
        title={`${words.revoke}: ${name}`}
        text={words.revokeText}
        onConfirm={() => perform(words.revoked, () => call('DELETE', path))}
      />
    </div>
  );
}
