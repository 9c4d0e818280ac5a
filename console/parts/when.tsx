import type { ReactNode } from 'react';
import { formatAgo, formatTime } from '../words/format.ts';

/** A time of an answer (ISO): how long ago it is, and the time itself to whom wants it exactly. */
export function When({ at }: { at: string | null | undefined }): ReactNode {
  if (at === null || at === undefined) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  );
}

/** A state in a word; its tone is never all that tells it. */
export function Badge({ tone, children }: { tone: 'good' | 'bad' | 'wait' | 'idle'; children: ReactNode }): ReactNode {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}
