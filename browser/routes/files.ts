import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { SetFilePermissions } from '../../contract/files.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { BrowserDeps } from '../deps.ts';
import { createFolder, deleteFile, deleteFolder, move, setPermissions } from '../files/change-tree.ts';
import { fileInfoAt, listFolder, openFile } from '../files/read.ts';
import type { SessionFiles } from '../files/session-files.ts';
import type { WatchEvents } from '../files/watch-events.ts';
import { zipFolder } from '../files/zip-folder.ts';
import { projectsOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { sendStream } from '../http/replies.ts';

/** `/browsers/{id}/fs/…`: the files of a session. Uploads are in uploads.ts. */
export function fileRoutes({ route, inSession }: Router, deps: BrowserDeps): void {
  inSession(BROWSER_ROUTES.listFiles, ({ workspace }, { query }) => listFolder(workspace.files, query.path));
  inSession(BROWSER_ROUTES.fileInfo, ({ workspace }, { query }) => fileInfoAt(workspace.files, query.path));
  inSession(BROWSER_ROUTES.readFile, async (session, { query, reply }) => {
    const file = await openFile(session.workspace.files, query.path);
    return sendStream(reply.type('application/octet-stream'), session, file.createReadStream());
  });
  inSession(BROWSER_ROUTES.downloadDirZip, async (session, { query, reply }) => {
    const archive = await zipFolder(session.workspace.files, query.path);
    return sendStream(reply.type('application/zip'), session, archive);
  });

  const change = <Body extends z.ZodType>(
    contract: BrowserRoute<z.ZodType<{ id: string }>, z.ZodType, Body, z.ZodVoid>,
    run: (files: SessionFiles, input: z.output<Body>) => Promise<void>,
  ): void => {
    inSession(contract, ({ workspace }, { body }) => run(workspace.files, body));
  };
  change(BROWSER_ROUTES.createDirectory, (files, { path, mode }) => createFolder(files, path, octal(mode)));
  change(BROWSER_ROUTES.deleteFile, (files, { path }) => deleteFile(files, path));
  change(BROWSER_ROUTES.deleteDirectory, (files, { path }) => deleteFolder(files, path));
  change(BROWSER_ROUTES.move, (files, { src_path: from, dest_path: to }) => move(files, from, to));
  change(BROWSER_ROUTES.setFilePermissions, (files, request) => {
    assertOwners(request);
    return setPermissions(files, request.path, Number.parseInt(request.mode, 8));
  });

  inSession(BROWSER_ROUTES.startFsWatch, async ({ workspace }, { body }) => ({
    watch_id: await workspace.watches.start(body.path, body.recursive ?? false),
  }));
  route(BROWSER_ROUTES.streamFsEvents, ({ request, params, reply }) => {
    const session = deps.registry.running(projectsOf(request), params.id);
    // Opening the stream counts as activity; reading it does not keep the browser alive.
    session.activity.begin()();
    return streamChanges(session.workspace.watches.events(params.watchId), reply);
  });
  inSession(BROWSER_ROUTES.stopFsWatch, ({ workspace }, { params }) => workspace.watches.stop(params.watchId));
}

/** Parses octal permission bits. */
export function octal(mode: string | undefined): number | undefined {
  return mode === undefined ? undefined : Number.parseInt(mode, 8);
}

/** All files of a session belong to its only user. */
function assertOwners({ owner, group }: SetFilePermissions): void {
  for (const [field, name] of Object.entries({ owner, group })) {
    if (name === undefined || name === 'user') continue;
    throw new HoldfastError('invalid_request', `${field}: files of a session belong to its user; leave it out`);
  }
}

async function streamChanges(events: WatchEvents, reply: FastifyReply): Promise<FastifyReply> {
  const stream = openEventStream(reply);
  for await (const event of events.read(abortOnClose(reply))) {
    await stream.send('comment' in event ? `: ${event.comment}\n\n` : `data: ${JSON.stringify(event)}\n\n`);
  }
  stream.end();
  return reply;
}
