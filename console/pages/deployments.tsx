import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Deployment } from '../../contract/apps.ts';
import { DeployButtons } from '../apps/deploy.tsx';
import { Environment } from '../apps/environment.tsx';
import { DeploymentState } from '../apps/states.tsx';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { EventLog } from '../parts/event-log.tsx';
import { Filter, ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { appWords as words } from '../words/apps.ts';
import { commonWords } from '../words/common.ts';

/** Refetch interval in milliseconds, to follow builds. */
const REFRESH_MS = 10_000;

/** Deployed programs, newest first. */
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

/** Source of a deployment. */
function sourceOf({ source_type: type, source_url: url, source_ref: ref, source_path: path }: Deployment): string {
  if (type === 'file' || url === undefined) return words.sourceFile;
  return [`${url.replace('https://', '')}@${ref ?? ''}`, ...(path === undefined ? [] : [path])].join(' · ');
}

/** One deployment: status, build log and environment. */
export function DeploymentPage({ id }: { id: string }): ReactNode {
  const query = useResource<Deployment>(`/deployments/${id}`);
  return <Loaded query={query}>{(deployment) => <DeploymentDetail deployment={deployment} />}</Loaded>;
}

function DeploymentDetail({ deployment }: { deployment: Deployment }): ReactNode {
  const { id, status } = deployment;
  const path = `/deployments/${id}`;
  const [, navigate] = useLocation();
  const perform = useAction(['/deployments', '/apps', path]);
  const remove = (): Promise<void> =>
    perform(words.removed, async () => {
      await call('DELETE', path);
      navigate('/deployments');
    });
  const isOver = status === 'running' || status === 'failed' || status === 'stopped';
  return (
    <Page
      title={words.deployment}
      back={{ href: '/deployments', label: words.deployments }}
      actions={
        status === 'stopped' ? null : (
          <ConfirmButton
            label={commonWords.remove}
            title={words.removeTitle}
            text={words.removeText}
            onConfirm={remove}
          />
        )
      }
    >
      <Section title={words.facts} actions={<DeploymentState status={status} />}>
        <Facts
          facts={[
            [commonWords.id, <code key="id">{id}</code>],
            [words.reason, deployment.status_reason],
            [words.source, sourceOf(deployment)],
            [words.entrypoint, <code key="entrypoint">{deployment.entrypoint_rel_path}</code>],
            [words.made, <When key="made" at={deployment.created_at} />],
            [words.changed, <When key="changed" at={deployment.updated_at} />],
            [words.checksum, <code key="checksum">{deployment.source_checksum}</code>],
          ]}
        />
      </Section>
      <EventLog
        title={words.log}
        stream={`${path}/events`}
        resource={path}
        empty={isOver ? words.noMoreLog : words.noLog}
      />
      <Environment variables={deployment.env_vars} />
    </Page>
  );
}
