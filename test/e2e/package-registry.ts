import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An npm registry with one package. */
export interface PackageRegistry {
  host: string;
  close(): Promise<void>;
}

/** Starts a registry with the package `name`, whose module is `source`. */
export async function startPackageRegistry(name: string, source: string): Promise<PackageRegistry> {
  const archive = packed(name, source);
  const server = createServer((request, response) => {
    const { host = '' } = request.headers;
    if (request.url?.endsWith('.tgz') === true) {
      response.end(archive);
      return;
    }
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const dist = { tarball: `http://${host}/${name}.tgz`, integrity };
    const version = { name, version: '1.0.0', dist };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${String(port)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function packed(name: string, source: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'hf-registry-'));
  try {
    mkdirSync(join(folder, 'package'));
    const manifest = { name, version: '1.0.0', type: 'module', exports: './index.js' };
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package/index.js'), source);
    execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
    return readFileSync(join(folder, 'package.tgz'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
