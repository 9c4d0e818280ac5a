import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import { callPages } from '../calls/call.ts';
import { LinkButton } from '../parts/button.tsx';
import { Filter, More, RowTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { Badge } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { auditWords as words } from '../words/audit-log.ts';
import { formatMoment, formatNumber } from '../words/format.ts';
import { fill } from '../words/language.ts';

const DAY_MS = 24 * 60 * 60_000;
const SPANS = [1, 7, 30];
/** Status of a row that counts unauthenticated requests left out of the log within a minute; `route` starts with the count. */
const UNANSWERED = 0;
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

/** API calls with caller and result. */
export default function AuditLog(): ReactNode {
  const [search, setSearch] = useState('');
  const [method, setMethod] = useState('');
  const [days, setDays] = useState('1');
  return (
    <Page title={words.title} actions={<LinkButton href="/audit-log/destinations">{words.destinations}</LinkButton>}>
      <p className="lead">{words.text}</p>
      <div className="filters">
        <Filter label={words.search} value={search} onChange={setSearch} />
        <Filter
          label={words.method}
          value={method}
          onChange={setMethod}
          options={[{ value: '', label: words.all }, ...METHODS.map((value) => ({ value, label: value }))]}
        />
        <Filter
          label={words.span}
          value={days}
          onChange={setDays}
          options={SPANS.map((span) => ({
            value: String(span),
            label: `${span} ${span === 1 ? words.day : words.days}`,
          }))}
        />
      </div>
      <Entries key={days} search={search} method={method} days={Number(days)} />
    </Page>
  );
}

function Entries({ search, method, days }: { search: string; method: string; days: number }): ReactNode {
  // Fix the end of the period when the page opens, so that its pages line up.
  const [end] = useState(() => Date.now() + DAY_MS / 24);
  const list = useInfiniteQuery({
    queryKey: ['/audit-logs', search, method, days],
    queryFn: ({ pageParam }) =>
      callPages<AuditLogEntry>('/audit-logs', {
        start: new Date(end - days * DAY_MS).toISOString(),
        end: new Date(end).toISOString(),
        limit: 50,
        search,
        method,
        page_token: pageParam,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const rows = list.data.pages.flatMap((page) => page.rows).map((row, index) => ({ ...row, id: String(index) }));
  if (rows.length === 0) return <Empty title={words.none} text={words.noneText} />;
  return (
    <>
      <RowTable
        label={words.title}
        rows={rows}
        columns={[
          { label: commonWords.when, cell: ({ timestamp }) => formatMoment(timestamp) },
          { label: words.who, cell: ({ email, user_id: user, auth_strategy: strategy }) => email || user || strategy },
          {
            label: words.what,
            cell: ({ status, method: verb, path, route }) =>
              status === UNANSWERED ? (
                fill(words.leftOut, { count: formatNumber(Number.parseInt(route, 10)) })
              ) : (
                <code>
                  {verb} {path}
                </code>
              ),
          },
          {
            label: words.answer,
            cell: ({ status }) =>
              status === UNANSWERED ? '–' : <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>,
          },
          { label: words.from, cell: ({ client_ip: address }) => address },
          { label: words.took, cell: ({ duration_ms: ms }) => `${ms} ms` },
        ]}
      />
      <More list={list} />
    </>
  );
}
