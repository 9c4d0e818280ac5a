import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

const SDK = dirname(createRequire(import.meta.url).resolve('@onkernel/sdk'));

/** A ZIP archive of a program, by path, with the public SDK in its node_modules unless `withSdk` is false. */
export async function programArchive(files: Record<string, string>, withSdk = true): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), path);
  const sdk = withSdk ? readdirSync(SDK, { recursive: true, encoding: 'utf8' }) : [];
  for (const path of sdk.filter((each) => /\.m?js$|^package\.json$/.test(each))) {
    zip.addBuffer(readFileSync(join(SDK, path)), `node_modules/@onkernel/sdk/${path}`);
  }
  zip.end();
  // Its types do not declare it as a Node stream.
  return buffer(zip.outputStream);
}
