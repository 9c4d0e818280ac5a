import type { Protocol } from 'devtools-protocol';
import { placeOf, type EmitFromBrowser, type WatchedTarget } from './target.ts';

/** Maximum asynchronous parents of a stack. */
const MAX_PARENTS = 4;

/** Emits a console call. */
export function reportConsoleCall(
  target: WatchedTarget,
  { type, args, stackTrace }: Protocol.Runtime.ConsoleAPICalledEvent,
  emit: EmitFromBrowser,
): void {
  const texts = args.map(textOf);
  const stack = stackTrace === undefined ? {} : { stack_trace: stackOf(stackTrace) };
  const data = { ...placeOf(target), level: type, text: texts[0] ?? '', args: texts, ...stack };
  emit(type === 'error' ? 'console_error' : 'console_log', 'Runtime.consoleAPICalled', data);
}

/** Emits an uncaught exception. */
export function reportException(
  target: WatchedTarget,
  { exceptionDetails: details }: Protocol.Runtime.ExceptionThrownEvent,
  emit: EmitFromBrowser,
): void {
  const message = details.exception === undefined ? '' : (textOf(details.exception).split('\n', 1)[0] ?? '');
  emit('console_error', 'Runtime.exceptionThrown', {
    ...placeOf(target),
    text: `${details.text} ${message}`.trim(),
    line: details.lineNumber,
    column: details.columnNumber,
    ...(details.url === undefined ? {} : { source_url: details.url }),
    ...(details.stackTrace === undefined ? {} : { stack_trace: stackOf(details.stackTrace) }),
  });
}

/** A value as text, like the console shows it, without inspecting objects. */
function textOf({ value, unserializableValue, description, type }: Protocol.Runtime.RemoteObject): string {
  const plain: unknown = value;
  if (typeof plain === 'string') return plain;
  if (plain === null) return 'null';
  if (typeof plain === 'number' || typeof plain === 'boolean') return String(plain);
  return unserializableValue ?? description ?? type;
}

function stackOf(stack: Protocol.Runtime.StackTrace, level = 0): object {
  const { callFrames, description, parent } = stack;
  return {
    callFrames: callFrames.map(({ columnNumber, functionName, lineNumber, scriptId, url }) => ({
      columnNumber,
      functionName,
      lineNumber,
      scriptId,
      url,
    })),
    ...(description === undefined ? {} : { description }),
    ...(parent === undefined || level >= MAX_PARENTS ? {} : { parent: stackOf(parent, level + 1) }),
  };
}
