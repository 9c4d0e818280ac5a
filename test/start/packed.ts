import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { run } from '../../start/setup/command.ts';

/** Packs the checkout as `npm pack` does and returns the archive's path, in a temporary folder of its own. */
export async function pack(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pack-'));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder]);
  expect(packed).toMatchObject({ ok: true });
  return join(folder, packed.output.trim().split('\n').at(-1) ?? '');
}

/**
 * Type-checks a program that uses `holdfast/client` in `folder`, where the package is installed, and runs it. What would be `any`
 * where our types are not found is told by the lines that expect an error.
 */
export async function checkClientProgram(folder: string): Promise<void> {
  await writeFile(
    join(folder, 'program.ts'),
    `import { Client, Connection } from '@temporalio/client';
     import { createConnectionsClient, createDataConverter, HoldfastError, purposeKey } from 'holdfast/client';
     import type { ConnectionDocument, ConnectionsClient } from 'holdfast/client';

     const masterKey = Buffer.alloc(32, 7);
     const temporal = new Client({
       connection: Connection.lazy({ address: '127.0.0.1:1' }),
       dataConverter: createDataConverter(purposeKey(masterKey, 'temporal-payloads')),
     });
     const connections: ConnectionsClient = createConnectionsClient({
       temporal,
       identityKey: purposeKey(masterKey, 'connection-identity'),
     });
     export async function statusOf(id: string): Promise<ConnectionDocument['status']> {
       // @ts-expect-error an id is a string
       const wrong: Promise<unknown> = connections.read(7).catch(() => undefined);
       await wrong;
       const { flow, status } = await connections.read(id);
       // @ts-expect-error a flow has no such member
       if (flow?.nonsense) throw new HoldfastError('not_found', 'No');
       return status;
     }
     console.log(Object.keys(connections).includes('login'), new HoldfastError('not_found', 'No such connection').code);
    `,
  );
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'NodeNext',
        target: 'ES2022',
        strict: true,
        skipLibCheck: true,
        outDir: 'out',
        types: ['node'],
        typeRoots: [resolve('node_modules/@types')],
      },
      files: ['program.ts'],
    }),
  );
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
  const checked = await run(process.execPath, [resolve('node_modules/typescript-native/bin/tsc'), '-p', folder]);
  expect(checked).toEqual({ ok: true, output: '' });
  const ran = await run(process.execPath, [join(folder, 'out', 'program.js')], { cwd: folder });
  expect(ran).toEqual({ ok: true, output: 'true not_found\n' });
}
