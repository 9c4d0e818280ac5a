import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Invocation } from '../../contract/apps.ts';
import { InvocationState } from '../apps/states.tsx';
import { LinkButton } from '../parts/button.tsx';
import { Filter, ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';
import { formatDuration } from '../words/format.ts';

/** How often the list is read again, in milliseconds. */
const REFRESH_MS = 5000;
const STATES = ['queued', 'running', 'succeeded', 'failed'] as const;

/** Actions that run or have run, newest first. */
export default function Invocations(): ReactNode {
  const [query, setQuery] = useState('');
  const [status, setStatus] = useState('');
  return (
    <Page title={words.invocations} actions={<LinkButton href="/apps">{words.toApps}</LinkButton>}>
      <p className="lead">{words.invocationsText}</p>
      <div className="filters">
        <Filter label={words.searchOrId} value={query} onChange={setQuery} />
        <Filter
          label={commonWords.state}
          value={status}
          onChange={setStatus}
          options={[{ value: '', label: words.anyState }, ...STATES.map((value) => ({ value, label: words[value] }))]}
        />
      </div>
      <ListTable<Invocation>
        label={words.invocations}
        path="/invocations"
        query={{ query, status }}
        refreshMs={REFRESH_MS}
        empty={{
          title: words.noInvocations,
          text: words.noInvocationsText,
          action: (
            <LinkButton href="/apps" kind="primary">
              {words.toApps}
            </LinkButton>
          ),
        }}
        columns={[
          {
            label: words.action,
            cell: ({ id, action_name: action }) => <Link href={`/invocations/${id}`}>{action}</Link>,
          },
          { label: words.app, cell: ({ app_name: app, version }) => `${app} ${version}` },
          { label: commonWords.state, cell: (invocation) => <InvocationState status={invocation.status} /> },
          { label: words.begun, cell: ({ started_at: at }) => <When at={at} /> },
          { label: words.took, cell: durationOf },
        ]}
      />
    </Page>
  );
}

/** How long an invocation took; a line while it runs. */
export function durationOf({ started_at: start, finished_at: end }: Invocation): string {
  return end === null ? '–' : formatDuration((Date.parse(end) - Date.parse(start)) / 1000);
}
