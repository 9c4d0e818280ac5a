import type { ReactNode } from 'react';
import type { DeploymentStatus, InvocationStatus } from '../../contract/apps.ts';
import { Badge } from '../parts/when.tsx';
import { appWords as words } from '../words/apps.ts';

/** How far a deployment is. */
export function DeploymentState({ status }: { status: DeploymentStatus }): ReactNode {
  switch (status) {
    case 'running':
      return <Badge tone="good">{words.ready}</Badge>;
    case 'failed':
      return <Badge tone="bad">{words.failed}</Badge>;
    case 'stopped':
      return <Badge tone="idle">{words.stopped}</Badge>;
    case 'queued':
    case 'in_progress':
      return <Badge tone="wait">{words[status]}</Badge>;
  }
}

/** How an invocation goes. */
export function InvocationState({ status }: { status: InvocationStatus }): ReactNode {
  switch (status) {
    case 'succeeded':
      return <Badge tone="good">{words.succeeded}</Badge>;
    case 'failed':
      return <Badge tone="bad">{words.failed}</Badge>;
    case 'queued':
    case 'running':
      return <Badge tone="wait">{words[status]}</Badge>;
  }
}

/** JSON as people read it, in a place of its own that scrolls; what is none stands as it is. */
export function JsonText({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <pre className="log" role="region" aria-label={label} tabIndex={0}>
      {indented(text)}
    </pre>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
