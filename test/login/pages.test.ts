import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { createPages } from '../../activities/login/session/pages.ts';
import type { BrowserService } from '../../browser-client/service.ts';

it('connects without creating a temporary folder, which would be left behind if the browser closes first', async () => {
  const browser = new WebSocketServer({ port: 0 });
  const commands: string[] = [];
  browser.on('connection', (client) => {
    // It goes as soon as it is spoken to: by then a folder would be there.
    client.once('message', (command: Buffer) => {
      commands.push(command.toString());
      client.terminate();
    });
  });
  const made = vi.spyOn(fs.promises, 'mkdtemp');
  const gone = () => Promise.reject(new Error('The session has ended'));
  const service: BrowserService = { call: gone, exchange: gone, open: gone, close: () => Promise.resolve() };
  const url = `ws://127.0.0.1:${String((browser.address() as AddressInfo).port)}`;
  await expect(createPages(service).of('project', 'session', url)).rejects.toThrow('The session has ended');
  expect(commands).toHaveLength(1);
  expect(made).not.toHaveBeenCalled();
  made.mockRestore();
  browser.close();
});
