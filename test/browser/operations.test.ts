import { expect, it } from 'vitest';
import { operationOf } from '../../browser/telemetry/api-calls.ts';

it.each([
  ['POST', 'computer/click_mouse', 'ClickMouse', 'api_call'],
  ['POST', 'computer/type', 'TypeText', 'api_call'],
  ['POST', 'computer/batch', 'BatchComputerAction', 'api_call'],
  ['POST', 'computer/screenshot', 'TakeScreenshot', 'api_call'],
  ['POST', 'computer/get_mouse_position', 'GetMousePosition', 'api_call'],
  ['POST', 'playwright/execute', 'ExecutePlaywrightCode', 'api_call'],
  ['POST', 'process/exec', 'ProcessExec', 'platform_api_call'],
  ['GET', 'process/:processId/stdout/stream', 'ProcessStdoutStream', 'platform_api_call'],
  ['GET', 'fs/list_files', 'ListFiles', 'platform_api_call'],
  ['POST', 'fs/watch', 'StartFsWatch', 'platform_api_call'],
  ['DELETE', 'fs/watch/:watchId', 'StopFsWatch', 'platform_api_call'],
  ['GET', 'logs/stream', 'LogsStream', 'platform_api_call'],
  ['POST', 'replays', 'StartReplay', 'platform_api_call'],
  ['POST', 'replays/:replayId/stop', 'StopReplay', 'platform_api_call'],
])('%s %s is %s, told as %s', (method, path, id, event) => {
  expect(operationOf(method, `/browsers/:id/${path}`)).toEqual({ id, event });
});

it.each(['/browsers', '/browsers/:id', '/browsers/:id/telemetry/stream', '/health', ''])(
  '%s is not reported',
  (route) => {
    expect(operationOf('GET', route)).toBeNull();
  },
);
