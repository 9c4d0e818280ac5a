import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import type { SetFilePermissions } from '../../contract/files.ts';
import {
  CreateDirectory,
  DeletePath,
  MovePath,
  SetFilePermissions as SetFilePermissionsSchema,
} from '../../contract/files.ts';
import type { BrowserDeps } from '../deps.ts';
import { createFolder, deleteFile, deleteFolder, move, setPermissions } from '../files/change-tree.ts';
import type { SessionFiles } from '../files/session-files.ts';
import { withSession } from '../http/with-session.ts';
import { SessionParams } from './params.ts';

/** `PUT /browsers/{id}/fs/…`: what changes the files of a session. Contents come by files-upload.ts. */
export function fileWriteRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  /** A change whose success has nothing to say: 200 with an empty body. */
  const change = <S extends z.ZodType>(
    name: string,
    body: S,
    run: (files: SessionFiles, input: z.infer<S>) => Promise<void>,
  ): void => {
    typed.put(`/browsers/:id/fs/${name}`, { schema: { params: SessionParams, body } }, async (request, reply) => {
      const { id } = request.params;
      await withSession(deps, request, id, ({ space }) => run(space.files, body.parse(request.body)));
      return reply.code(200).send();
    });
  };

  change('create_directory', CreateDirectory, (files, { path, mode }) => createFolder(files, path, octal(mode)));
  change('delete_file', DeletePath, (files, { path }) => deleteFile(files, path));
  change('delete_directory', DeletePath, (files, { path }) => deleteFolder(files, path));
  change('move', MovePath, (files, { src_path: from, dest_path: to }) => move(files, from, to));
  change('set_file_permissions', SetFilePermissionsSchema, (files, request) => {
    assertOwners(request);
    return setPermissions(files, request.path, Number.parseInt(request.mode, 8));
  });
}

/** Permission bits of their text; undefined when none is given. */
export function octal(mode: string | undefined): number | undefined {
  return mode === undefined ? undefined : Number.parseInt(mode, 8);
}

/** All files of a session belong to its one user: there is nobody else to give them to. */
function assertOwners({ owner, group }: SetFilePermissions): void {
  for (const [field, name] of Object.entries({ owner, group })) {
    if (name === undefined || name === 'user') continue;
    throw new HoldfastError('invalid_request', `${field}: files of a session belong to its user; leave it out`);
  }
}
