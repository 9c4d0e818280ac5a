import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../calls/call.ts';
import { Failed, Loading } from './states.tsx';

/** Reads one resource of the API by its path. */
export function useResource<Resource>(path: string, refreshMs?: number): UseQueryResult<Resource> {
  return useQuery({
    queryKey: [path],
    queryFn: () => call<Resource>('GET', path),
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs }),
  });
}

/** Shows what was read by `children`; loading and faults are shown in its place. */
export function Loaded<Resource>({
  read,
  children,
}: {
  read: UseQueryResult<Resource>;
  children: (resource: Resource) => ReactNode;
}): ReactNode {
  if (read.isPending) return <Loading />;
  if (read.isError) return <Failed error={read.error} retry={() => void read.refetch()} />;
  return children(read.data);
}

/** What is known of something, name by name. What is null is left out. */
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
