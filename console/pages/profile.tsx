import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import type { Profile } from '../../contract/profiles.ts';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { profileWords as words } from '../words/profiles.ts';
import { ProfileActions } from './profiles.tsx';

/** One profile: the sites that it is kept logged in to. */
export default function ProfilePage({ id }: { id: string }): ReactNode {
  return (
    <Loaded read={useResource<Profile>(`/profiles/${id}`)}>{(profile) => <ProfileDetail profile={profile} />}</Loaded>
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
