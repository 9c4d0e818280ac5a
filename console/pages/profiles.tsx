import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import type { Profile } from '../../contract/profiles.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { ListTable, SearchedTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { profileWords as words } from '../words/profiles.ts';

const PATH = '/profiles';

/** Browser profiles and when they were last used. */
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

/** Actions on a profile. `onRemoved` is called after deletion, to leave the profile's page. */
function ProfileActions({ profile, onRemoved }: { profile: Profile; onRemoved?: () => void }): ReactNode {
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

/** One profile and the sites it is logged in to. */
export function ProfilePage({ id }: { id: string }): ReactNode {
  return (
    <Loaded query={useResource<Profile>(`/profiles/${id}`)}>{(profile) => <ProfileDetail profile={profile} />}</Loaded>
  );
}

function ProfileDetail({ profile }: { profile: Profile }): ReactNode {
  const [, navigate] = useLocation();
  return (
    <Page
      title={profile.name ?? profile.id}
      back={{ href: '/profiles', label: words.title }}
      actions={<ProfileActions profile={profile} onRemoved={() => navigate('/profiles')} />}
    >
      <Section title={words.facts}>
        <Facts
          facts={[
            [commonWords.id, <code key="id">{profile.id}</code>],
            [commonWords.lastUsed, <When key="used" at={profile.last_used_at} />],
            [commonWords.created, <When key="made" at={profile.created_at} />],
          ]}
        />
      </Section>
      <Section title={words.sites}>
        {profile.name === null ? (
          <p>{words.unnamed}</p>
        ) : (
          <ListTable<ManagedAuth>
            label={words.sites}
            path="/auth/connections"
            within={{ profile_name: profile.name }}
            empty={{ title: words.noSites, text: words.noSitesText }}
            columns={[
              { label: words.site, cell: ({ id, domain }) => <Link href={`/connections/${id}`}>{domain}</Link> },
              {
                label: commonWords.state,
                cell: ({ status }) => <Badge tone={status === 'AUTHENTICATED' ? 'good' : 'bad'}>{words[status]}</Badge>,
              },
              { label: words.checked, cell: ({ last_auth_check_at: at }) => <When at={at} /> },
            ]}
          />
        )}
      </Section>
    </Page>
  );
}
