import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Deployment } from '../../contract/apps.ts';
import { Environment } from '../apps/environment.tsx';
import { DeploymentState } from '../apps/states.tsx';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { EventLog } from '../parts/event-log.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';
import { sourceOf } from './deployments.tsx';

/** One deployment: how far it is, what its build says, and the environment that its programs get. */
export default function DeploymentPage({ id }: { id: string }): ReactNode {
  const read = useResource<Deployment>(`/deployments/${id}`);
  return <Loaded read={read}>{(deployment) => <DeploymentDetail deployment={deployment} />}</Loaded>;
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
