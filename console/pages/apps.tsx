import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AppVersion } from '../../contract/apps.ts';
import { LinkButton } from '../parts/button.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';

/** Versions of apps, newest first. */
export default function Apps(): ReactNode {
  return (
    <Page title={words.apps} actions={<LinkButton href="/deployments">{words.toDeployments}</LinkButton>}>
      <p className="lead">{words.appsText}</p>
      <SearchedTable<AppVersion>
        label={words.apps}
        search={commonWords.name}
        path="/apps"
        empty={{
          title: words.noApps,
          text: words.noAppsText,
          action: (
            <LinkButton href="/deployments" kind="primary">
              {words.toDeployments}
            </LinkButton>
          ),
        }}
        columns={[
          {
            label: words.app,
            cell: ({ app_name: name }) => <Link href={`/apps/${encodeURIComponent(name)}`}>{name}</Link>,
          },
          { label: words.version, cell: ({ version }) => version },
          { label: words.actions, cell: ({ actions }) => actions.map(({ name }) => name).join(', ') || '–' },
          {
            label: words.deployment,
            cell: ({ deployment }) => (
              <Link href={`/deployments/${deployment}`}>
                <code>{deployment}</code>
              </Link>
            ),
          },
        ]}
      />
    </Page>
  );
}
