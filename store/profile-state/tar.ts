/** Size of a tar archive's blocks, in bytes. */
const BLOCK = 512;

/** A tar archive (ustar) of one file. */
export function tarOf(name: string, content: Buffer, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0, 100, 'utf8');
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(Math.floor(modifiedAt.getTime() / 1000), 12), 136);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257);
  header.write(`${octal(checksumOf(header), 7)} `, 148);
  const padding = (BLOCK - (content.length % BLOCK)) % BLOCK;
  return Buffer.concat([header, content, Buffer.alloc(padding + 2 * BLOCK)]);
}

/** A file of a tar archive, whatever folder it lies in; null when it has none such, or is no tar archive. */
export function fileInTar(archive: Buffer, name: string): Buffer | null {
  let at = 0;
  while (at + BLOCK <= archive.length) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return null;
    const text = (start: number, length: number): string =>
      header.toString('utf8', start, start + length).split('\0', 1)[0] ?? '';
    const size = Number.parseInt(text(124, 12).trim(), 8);
    if (Number.parseInt(text(148, 8).trim(), 8) !== checksumOf(header) || !Number.isSafeInteger(size)) return null;
    const isFile = text(156, 1) === '0' || text(156, 1) === '';
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (isFile && text(0, 100).split('/').at(-1) === name) return content.length === size ? content : null;
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
}

/** The sum of a header's bytes, its own place counted as spaces. */
function checksumOf(header: Buffer): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);
}
