import type { ReactNode } from 'react';
import { formatAgo, formatTime } from '../words/format.ts';

/** A timestamp (ISO) as relative time, with the exact time on hover. */
export function When({ at }: { at: string | null | undefined }): ReactNode {
  if (at === null || at === undefined) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  );
}

/** A status label; its tone never carries the meaning alone. */
export function Badge({ tone, children }: { tone: 'good' | 'bad' | 'wait' | 'idle'; children: ReactNode }): ReactNode {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}
