import { StringDecoder } from 'node:string_decoder';

/** Longest line that is handed on in one piece, in characters. */
const MAX_LINE = 16_384;

/**
 * Makes lines of what a program says, each stream of its own; `flush` hands on what has no end of line yet. NUL, which the
 * store does not take, is left out.
 */
export function createLogLines(onLine: (line: string) => void) {
  const streams = { stdout: openStream(), stderr: openStream() };
  return {
    push: (stream: 'stdout' | 'stderr', data: Buffer): void => {
      const held = streams[stream];
      held.rest += held.decoder.write(data);
      const lines = held.rest.split(/\r?\n/);
      held.rest = lines.pop() ?? '';
      for (const line of lines) say(line, onLine);
      if (held.rest.length >= MAX_LINE) {
        say(held.rest, onLine);
        held.rest = '';
      }
    },
    flush: (): void => {
      for (const held of Object.values(streams)) if (held.rest !== '') say(held.rest, onLine);
    },
  };
}

function openStream(): { decoder: StringDecoder; rest: string } {
  return { decoder: new StringDecoder('utf8'), rest: '' };
}

function say(line: string, onLine: (line: string) => void): void {
  const text = line.replaceAll('\0', '');
  for (let at = 0; at === 0 || at < text.length; at += MAX_LINE) onLine(text.slice(at, at + MAX_LINE));
}
