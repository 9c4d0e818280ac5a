import { gunzipSync } from 'node:zlib';
import bundleConsole from './assets.prebuilt.ts';

/** A file of the console in each encoding. */
export interface Asset {
  type: string;
  br: Buffer;
  gzip: Buffer;
  /** Uncompressed, for the rare client that accepts neither. */
  plain: () => Buffer;
}

/** The console's files by name, and the ones its document references. */
export interface ConsoleAssets {
  files: ReadonlyMap<string, Asset>;
  script: string;
  style: string;
  preloads: readonly string[];
}

let assets: Promise<ConsoleAssets> | null = null;

/** The files, bundled once per process unless prebuilt. Rejects with the build error. */
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
