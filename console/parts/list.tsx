import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { callList, type Query } from '../calls/call.ts';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { useCanAct } from './roles.tsx';
import { Empty, Failed, Loading } from './states.tsx';

const words = inLanguage({
  en: { more: 'Show more', none: 'Nothing matches', noneText: 'Change or clear the filters above.' },
  de: { more: 'Mehr zeigen', none: 'Nichts passt dazu', noneText: 'Ändere oder leere die Filter darüber.' },
});

/** Rows per request. */
const PAGE_SIZE = 25;

/** A table column. On phones, each row becomes a card that includes the labels. */
export interface Column<Row> {
  label: string;
  cell: (row: Row) => ReactNode;
  /** Contains action buttons; hidden from people who may not act here. */
  acts?: boolean;
}

interface ListTableProps<Row> {
  label: string;
  path: string;
  /** Fixed query parameters; unlike `query`, not filters that could be cleared. */
  within?: Query;
  query?: Query;
  /** Unique id of a row; its `id` by default. */
  rowId?: (row: Row) => string;
  columns: readonly Column<Row>[];
  empty: { title: string; text: string; action?: ReactNode };
  /** Refetch interval in milliseconds. */
  refreshMs?: number;
}

/**
 * A table of an offset-paged API list. The first column should link to the row's page. `query` holds filters: if they match
 * nothing, that is shown instead of `empty`.
 */
export function ListTable<Row extends object>({
  label,
  path,
  within = {},
  query = {},
  rowId = idOf,
  columns,
  empty,
  refreshMs,
}: ListTableProps<Row>): ReactNode {
  const list = useInfiniteQuery({
    queryKey: [path, 'list', within, query],
    queryFn: ({ pageParam }) => callList<Row>(path, { ...within, ...query, limit: PAGE_SIZE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset,
    placeholderData: keepPreviousData,
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs }),
  });
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const rows = list.data.pages.flatMap((page) => page.rows).map((row) => ({ ...row, id: rowId(row) }));
  if (rows.length === 0) {
    const filtered = Object.values(query).some((value) => value !== undefined && value !== '');
    return filtered ? <Empty title={words.none} text={words.noneText} /> : <Empty {...empty} />;
  }
  return (
    <>
      <RowTable label={label} columns={columns} rows={rows} />
      <More list={list} />
    </>
  );
}

/** A {@link ListTable} with a search field, sent as `query`. */
export function SearchedTable<Row extends object>({
  search,
  ...table
}: Omit<ListTableProps<Row>, 'query'> & { search: string }): ReactNode {
  const [query, setQuery] = useState('');
  return (
    <>
      <div className="filters">
        <Filter label={search} value={query} onChange={setQuery} />
      </div>
      <ListTable<Row> {...table} query={{ query }} />
    </>
  );
}

/** Button to load the next page of a list. */
export function More({
  list,
}: {
  list: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}): ReactNode {
  if (!list.hasNextPage) return null;
  return (
    <div className="more">
      <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
        {words.more}
      </Button>
    </div>
  );
}

function idOf(row: object): string {
  return 'id' in row ? String(row.id) : '';
}

/** A table of given rows. */
export function RowTable<Row extends { id: string }>({
  label,
  columns: all,
  rows,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}): ReactNode {
  const canAct = useCanAct();
  const columns = all.filter(({ acts = false }) => canAct || !acts);
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col">
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {columns.map((column) => (
                <td key={column.label} data-label={column.label}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A filter above a list, applied while typing. */
export function Filter({
  label,
  value,
  onChange,
  options,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Options of a select; a text field without them. */
  options?: readonly { value: string; label: string }[];
}): ReactNode {
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      {options === undefined ? (
        <input
          id={id}
          className="input"
          type="search"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <select id={id} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
