import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Profile } from '../../contract/profiles.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { profileWords as words } from '../words/profiles.ts';

const PATH = '/profiles';

/** Browser profiles: whose logins are kept, and when a browser last used them. */
export default function Profiles(): ReactNode {
  return (
    <Page title={words.title} actions={<CreateProfile />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<Profile>
        label={words.title}
        search={commonWords.name}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <CreateProfile /> }}
        columns={[
          { label: commonWords.name, cell: ({ id, name }) => <Link href={`/profiles/${id}`}>{name ?? id}</Link> },
          { label: commonWords.lastUsed, cell: ({ last_used_at: at }) => <When at={at} /> },
          { label: commonWords.created, cell: ({ created_at: at }) => <When at={at} /> },
          { label: commonWords.actions, acts: true, cell: (profile) => <ProfileActions profile={profile} /> },
        ]}
      />
    </Page>
  );
}

function CreateProfile(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PATH]}
      onSubmit={({ name }) => call('POST', PATH, { name })}
    >
      <TextInput name="name" label={commonWords.name} hint={words.nameHint} required />
    </FormButton>
  );
}

/** What can be done with a profile. `onRemoved` leads away from what is gone. */
export function ProfileActions({ profile, onRemoved }: { profile: Profile; onRemoved?: () => void }): ReactNode {
  const path = `${PATH}/${profile.id}`;
  const perform = useAction([PATH]);
  return (
    <div className="actions">
      <FormButton
        label={commonWords.rename}
        done={words.renamed}
        invalidates={[PATH, path]}
        onSubmit={({ name }) => call('PATCH', path, { name })}
      >
        <TextInput name="name" label={commonWords.name} initial={profile.name ?? ''} required />
      </FormButton>
      <ConfirmButton
        title={words.removeTitle}
        text={words.removeText}
        onConfirm={() =>
          perform(words.removed, async () => {
            await call('DELETE', path);
            onRemoved?.();
          })
        }
      />
    </div>
  );
}
