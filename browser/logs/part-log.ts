import { appendFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { SupervisedPart } from '../../contract/logs.ts';

/** Size at which a log file is rotated, in bytes; one rotated file is kept. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Unwritten text beyond which lines are dropped, in characters: a part never waits for its log. */
const MAX_PENDING = 256 * 1024;
/** Longest line to keep whole, in characters. */
const MAX_LINE = 8 * 1024;

/** The log file of a part of a session. */
export function partLogFile(logsFolder: string, part: SupervisedPart): string {
  return path.join(logsFolder, `${part}.log`);
}

/**
 * Writes a part's output to a log file of bounded size. URLs are reduced to scheme and host: the rest may contain a page's
 * secrets or, in the browser's debugging URL, the key to the browser.
 */
export function captureLog(source: Readable, file: string): void {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let pending = '';
  let size = 0;
  let writing = false;

  const write = async (): Promise<void> => {
    while (pending !== '') {
      const text = pending;
      pending = '';
      if (size > MAX_FILE_BYTES) {
        await rename(file, `${file}.1`);
        size = 0;
      }
      await appendFile(file, text, { mode: 0o600 });
      size += Buffer.byteLength(text);
    }
  };
  const append = (text: string): void => {
    line += text;
    const lines = line.split('\n');
    line = lines.pop() ?? '';
    if (line.length > MAX_LINE) {
      lines.push(line);
      line = '';
    }
    if (lines.length === 0 || pending.length > MAX_PENDING) return;
    pending += lines.map((complete) => `${shortenUrls(complete.slice(0, MAX_LINE))}\n`).join('');
    if (writing) return;
    writing = true;
    // Ignored: the folder is removed with the session, and a full disk should not stop the browser.
    void write()
      .catch(() => undefined)
      .finally(() => {
        writing = false;
      });
  };
  source.on('data', (data: Buffer) => append(decoder.write(data)));
  source.once('end', () => append(`${decoder.end()}\n`));
  source.on('error', () => undefined);
}

/** Adds a note of the service to a session's `service` log. Best effort, like all of its logs. */
export async function appendServiceNote(logsFolder: string, note: string): Promise<void> {
  const line = `${new Date().toISOString()} ${note.slice(0, MAX_LINE)}\n`;
  await appendFile(partLogFile(logsFolder, 'service'), line, { mode: 0o600 }).catch(() => undefined);
}

function shortenUrls(line: string): string {
  return line.replace(/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi, '$1$2/…');
}
