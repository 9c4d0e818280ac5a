import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Deployment } from '../../contract/apps.ts';
import { DeployButtons } from '../apps/deploy.tsx';
import { DeploymentState } from '../apps/states.tsx';
import { Filter, ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';

/** How often the list is read again, in milliseconds: builds go on. */
const REFRESH_MS = 10_000;

/** Programs as they were deployed, newest first. */
export default function Deployments(): ReactNode {
  const [query, setQuery] = useState('');
  return (
    <Page title={words.deployments} actions={<DeployButtons />}>
      <p className="lead">{words.deploymentsText}</p>
      <div className="filters">
        <Filter label={words.searchOrId} value={query} onChange={setQuery} />
      </div>
      <ListTable<Deployment>
        label={words.deployments}
        path="/deployments"
        query={{ query }}
        refreshMs={REFRESH_MS}
        empty={{ title: words.noDeployments, text: words.noDeploymentsText, action: <DeployButtons /> }}
        columns={[
          {
            label: commonWords.id,
            cell: ({ id }) => (
              <Link href={`/deployments/${id}`}>
                <code>{id}</code>
              </Link>
            ),
          },
          { label: commonWords.state, cell: ({ status }) => <DeploymentState status={status} /> },
          { label: words.source, cell: sourceOf },
          { label: words.entrypoint, cell: ({ entrypoint_rel_path: path }) => <code>{path}</code> },
          { label: words.made, cell: ({ created_at: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

/** Where a program came from. */
export function sourceOf({
  source_type: type,
  source_url: url,
  source_ref: ref,
  source_path: path,
}: Deployment): string {
  if (type === 'file' || url === undefined) return words.sourceFile;
  return [`${url.replace('https://', '')}@${ref ?? ''}`, ...(path === undefined ? [] : [path])].join(' · ');
}
