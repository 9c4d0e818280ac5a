import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../calls/call.ts';
import { Failed, Loading } from './states.tsx';

/** Fetches one API resource by its path. */
export function useResource<Resource>(path: string, refreshMs?: number): UseQueryResult<Resource> {
  return useQuery({
    queryKey: [path],
    queryFn: () => call<Resource>('GET', path),
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs }),
  });
}

/** Renders a query's data with `children`; until then, its loading or error state. */
export function Loaded<Resource>({
  query,
  children,
}: {
  query: UseQueryResult<Resource>;
  children: (resource: Resource) => ReactNode;
}): ReactNode {
  if (query.isPending) return <Loading />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return children(query.data);
}

/** A list of labeled values. Empty values are left out. */
export function Facts({ facts }: { facts: readonly (readonly [label: string, value: ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
