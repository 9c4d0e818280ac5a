import { type ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import { AddSite } from '../connection/add-site.tsx';
import { ConnectionBadge, reauthText } from '../connection/status.tsx';
import { Filter, ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { connectionTables, connectionWords as words } from '../words/connections.ts';

const REFRESH_MS = 15_000;

/** Status filters and their list queries. */
const STATES: Record<string, Record<string, string>> = {
  in: { status: 'AUTHENTICATED' },
  itself: { status: 'NEEDS_AUTH', can_reauth: 'true' },
  person: { status: 'NEEDS_AUTH', can_reauth: 'false' },
  waiting: { waiting: 'true' },
};

/** All connections. Filters are part of the address, so that numbers of the overview can link to them. */
export default function Connections(): ReactNode {
  const [search, setSearch] = useSearchParams();
  const get = (name: string): string => search.get(name) ?? '';
  const set = (name: string, value: string): void => {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  return (
    <Page title={words.title} actions={<AddSite />}>
      <p className="lead">{words.text}</p>
      <div className="filters">
        <Filter label={words.search} value={get('query')} onChange={(value) => set('query', value)} />
        <Filter
          label={commonWords.state}
          value={get('state')}
          onChange={(value) => set('state', value)}
          options={[
            { value: '', label: words.all },
            { value: 'in', label: words.loggedIn },
            { value: 'itself', label: words.byItself },
            { value: 'person', label: words.needsPerson },
            { value: 'waiting', label: words.waiting },
          ]}
        />
        <Filter
          label={words.filterReason}
          value={get('reason')}
          onChange={(value) => set('reason', value)}
          options={[
            { value: '', label: words.all },
            ...Object.entries(connectionTables.reasons).map(([value, label]) => ({ value, label })),
          ]}
        />
      </div>
      <ListTable<ManagedAuth>
        label={words.title}
        path="/auth/connections"
        query={{
          query: get('query'),
          domain: get('domain'),
          profile_name: get('profile'),
          can_reauth_reason: get('reason'),
          ...STATES[get('state')],
        }}
        refreshMs={REFRESH_MS}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <AddSite /> }}
        columns={[
          { label: words.site, cell: ({ id, domain }) => <Link href={`/connections/${id}`}>{domain}</Link> },
          { label: words.profile, cell: ({ profile_name: name }) => name },
          { label: commonWords.state, cell: (connection) => <ConnectionBadge connection={connection} /> },
          { label: words.outlook, cell: reauthText },
          { label: words.checked, cell: ({ last_auth_check_at: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}
