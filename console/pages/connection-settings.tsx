import type { ReactNode } from 'react';
import type { ManagedAuth } from '../../contract/connections.ts';
import { CodeSettings } from '../connection/code-settings.tsx';
import { CredentialSettings } from '../connection/credential-settings.tsx';
import { BrowserSettings, CheckSettings, SiteSettings } from '../connection/settings.tsx';
import { Loaded, useResource } from '../parts/resource.tsx';
import { Page } from '../parts/page.tsx';
import { settingsWords as words } from '../words/connection-settings.ts';
import { fill } from '../words/language.ts';

/** All settings of a connection. */
export default function ConnectionSettingsPage({ id }: { id: string }): ReactNode {
  const query = useResource<ManagedAuth>(`/auth/connections/${id}`);
  return (
    <Loaded query={query}>
      {(connection) => (
        <Page
          title={fill(words.title, { domain: connection.domain })}
          back={{ href: `/connections/${id}`, label: connection.domain }}
        >
          <p className="lead">{words.text}</p>
          <div className="settings">
            <CheckSettings connection={connection} />
            <CredentialSettings connection={connection} />
            <SiteSettings connection={connection} />
            <BrowserSettings connection={connection} />
            <CodeSettings connection={connection} />
          </div>
        </Page>
      )}
    </Loaded>
  );
}
