import { appendFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { SupervisedPart } from '../../contract/logs.ts';

/** Largest log file, in bytes; it is renamed then, and the one before it goes. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** How much may wait for the disk, in characters; what is more is dropped: a part never waits for its log. */
const MAX_WAITING = 256 * 1024;
/** Longest line that is kept whole, in characters. */
const MAX_LINE = 8 * 1024;

/** The log file of a part of a session. */
export function partLogFile(logsFolder: string, part: SupervisedPart): string {
  return path.join(logsFolder, `${part}.log`);
}

/**
 * Keeps what a part of a session says in a file of bounded size. Addresses are cut down to scheme and host: the rest may
 * hold a secret of a page, or (of the browser's own debugging address) the key to the browser.
 */
export function captureLog(source: Readable, file: string): void {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let waiting = '';
  let size = 0;
  let writing = false;

  const write = async (): Promise<void> => {
    while (waiting !== '') {
      const text = waiting;
      waiting = '';
      if (size > MAX_FILE_BYTES) {
        await rename(file, `${file}.1`);
        size = 0;
      }
      await appendFile(file, text, { mode: 0o600 });
      size += Buffer.byteLength(text);
    }
  };
  const take = (text: string): void => {
    line += text;
    const lines = line.split('\n');
    line = lines.pop() ?? '';
    if (line.length > MAX_LINE) {
      lines.push(line);
      line = '';
    }
    if (lines.length === 0 || waiting.length > MAX_WAITING) return;
    waiting += lines.map((whole) => `${withoutAddresses(whole.slice(0, MAX_LINE))}\n`).join('');
    if (writing) return;
    writing = true;
    // The folder goes with the session, and a full disk is no reason to stop a browser.
    void write()
      .catch(() => undefined)
      .finally(() => {
        writing = false;
      });
  };
  source.on('data', (data: Buffer) => {
    take(decoder.write(data));
  });
  source.once('end', () => {
    take(`${decoder.end()}\n`);
  });
  source.on('error', () => undefined);
}

/** Writes what the service has to tell the caller of a session into the session's own log. Best effort, as all of its logs. */
export async function noteForSession(logsFolder: string, note: string): Promise<void> {
  const line = `${new Date().toISOString()} ${note.slice(0, MAX_LINE)}\n`;
  await appendFile(partLogFile(logsFolder, 'service'), line, { mode: 0o600 }).catch(() => undefined);
}

function withoutAddresses(line: string): string {
  return line.replace(/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi, '$1$2/…');
}
