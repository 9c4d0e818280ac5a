import type { ReactNode } from 'react';
import type { DeploymentStatus, InvocationStatus } from '../../contract/apps.ts';
import { Badge } from '../parts/when.tsx';
import { appWords as words } from '../words/apps.ts';

const DEPLOYMENT_TONES = {
  running: 'good',
  failed: 'bad',
  stopped: 'idle',
  queued: 'wait',
  in_progress: 'wait',
} as const;
const INVOCATION_TONES = { succeeded: 'good', failed: 'bad', queued: 'wait', running: 'wait' } as const;

/** Status of a deployment. */
export function DeploymentState({ status }: { status: DeploymentStatus }): ReactNode {
  return <Badge tone={DEPLOYMENT_TONES[status]}>{status === 'running' ? words.ready : words[status]}</Badge>;
}

/** Status of an invocation. */
export function InvocationState({ status }: { status: InvocationStatus }): ReactNode {
  return <Badge tone={INVOCATION_TONES[status]}>{words[status]}</Badge>;
}

/** Pretty-printed JSON in a scrollable block; text that is not JSON is shown unchanged. */
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
