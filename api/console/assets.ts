import { gunzipSync } from 'node:zlib';
import bundleConsole from './assets.prebuilt.ts';

/** A file of the console in the forms it is sent in. */
export interface Asset {
  type: string;
  br: Buffer;
  gzip: Buffer;
  /** As it is, for the rare client that takes neither. */
  plain: () => Buffer;
}

/** The console's files by their names, and which of them its document names. */
export interface ConsoleAssets {
  files: ReadonlyMap<string, Asset>;
  script: string;
  style: string;
  preloads: readonly string[];
}

let assets: Promise<ConsoleAssets> | null = null;

/** The files, bundled once per process where they are not prebuilt. Rejects when the console's code has a fault. */
export function loadConsoleAssets(): Promise<ConsoleAssets> {
  assets ??= bundleConsole().then(
    ({ files, ...names }) => ({
      ...names,
      files: new Map(
        files.map(({ name, type, brotli, gzip }): [string, Asset] => {
          const zipped = Buffer.from(gzip, 'base64');
          return [name, { type, br: Buffer.from(brotli, 'base64'), gzip: zipped, plain: () => gunzipSync(zipped) }];
        }),
      ),
    }),
    (error: unknown) => {
      assets = null;
      throw error;
    },
  );
  return assets;
}
