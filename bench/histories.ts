import { Connection } from '@temporalio/client';
import protos from '@temporalio/proto';
import { workflowIdOf } from '../client/identity.ts';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import type { Figure } from './figure.ts';
import { answer, clientOf, connect, isAwaitingInput, isDone, waitForState } from './logins.ts';

/** The smallest interval of any plan, in seconds; checks are at most a tenth later. */
const INTERVAL_S = 300;
const CHECK_WITHIN_MS = INTERVAL_S * 1100 + 60_000;
const NAMESPACE = 'default';
/** Time for a workflow to record the events that follow a step. */
const SETTLE_MS = 2_000;

interface HistorySize {
  events: number;
  bytes: number;
}

/**
 * Events and bytes of history added by one login of a person and one health check by timer. `check` resolves minutes later,
 * once the timer has fired.
 */
export async function measureHistories(tree: ProcessTree): Promise<{ login: Figure[]; check: Promise<Figure[]> }> {
  const kernel = clientOf(tree);
  const connection = await connect(kernel, tree, 'bench-history', { interval: INTERVAL_S });
  const created = await sizeOf(tree, connection.id);
  await kernel.auth.connections.login(connection.id);
  await answer(kernel, await waitForState(kernel, connection.id, isAwaitingInput));
  const done = await waitForState(kernel, connection.id, isDone);
  const loggedIn = await sizeOf(tree, connection.id);

  const check = async (): Promise<Figure[]> => {
    const before = done.last_auth_check_at ?? null;
    await waitForState(
      kernel,
      connection.id,
      (state) => (state.last_auth_check_at ?? null) !== before && state.flow_status !== 'IN_PROGRESS',
      CHECK_WITHIN_MS,
    );
    const checked = await sizeOf(tree, connection.id);
    return figures('health check by timer', loggedIn, checked, 'within 12 events');
  };
  return { login: figures('login by a person, one page', created, loggedIn), check: check() };
}

function figures(what: string, before: HistorySize, after: HistorySize, aim?: string): Figure[] {
  const events = after.events - before.events;
  const bytes = after.bytes - before.bytes;
  return [
    { name: `History of a ${what}`, value: `${events} events, ${bytes} bytes`, ...(aim === undefined ? {} : { aim }) },
  ];
}

/** The size of a connection's histories: all runs of its entity, which continues as new after a flow, and its flows. */
async function sizeOf(tree: ProcessTree, connectionId: string): Promise<HistorySize> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const connection = await Connection.connect({ address: tree.temporalAddress });
  try {
    const { executions } = await connection.workflowService.listWorkflowExecutions({
      namespace: NAMESPACE,
      query: `WorkflowId = '${workflowIdOf(connectionId)}'`,
    });
    const runs = executions.map(({ execution }) => execution ?? {});
    const size = { events: 0, bytes: 0 };
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      for (const event of await eventsOf(connection, run)) {
        size.events += 1;
        size.bytes += protos.temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
        const flow = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
        if (flow) runs.push(flow);
      }
    }
    return size;
  } finally {
    await connection.close();
  }
}

async function eventsOf(
  connection: Connection,
  execution: protos.temporal.api.common.v1.IWorkflowExecution,
): Promise<protos.temporal.api.history.v1.IHistoryEvent[]> {
  const events: protos.temporal.api.history.v1.IHistoryEvent[] = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace: NAMESPACE,
      execution,
      nextPageToken,
    });
    events.push(...(page.history?.events ?? []));
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
  return events;
}
