import { createHash } from 'node:crypto';
import Kernel, { toFile } from '@onkernel/sdk';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { startApi } from '../../api/service.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const MANIFEST = { manifest_version: 3, name: 'marks', version: '1.0' };

async function zip(entries: Record<string, string> = { 'manifest.json': JSON.stringify(MANIFEST) }): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, text] of Object.entries(entries)) archive.addBuffer(Buffer.from(text), name);
  archive.end();
  const pieces: Buffer[] = [];
  for await (const piece of archive.outputStream) pieces.push(Buffer.from(piece as Buffer));
  return Buffer.concat(pieces);
}

/** As the Chrome Web Store packs it: a mark, a version, a signed header, and the archive. */
function packed(archive: Buffer, version = 3): Buffer {
  const prefix = Buffer.alloc(12);
  prefix.write('Cr24', 'latin1');
  prefix.writeUInt32LE(version, 4);
  prefix.writeUInt32LE(5, 8);
  return Buffer.concat([prefix, Buffer.from('proof'), archive]);
}

async function send(form: FormData, key = API_KEY, headers: Record<string, string> = {}) {
  const encoded = new Response(form);
  return fixture().app.inject({
    method: 'POST',
    url: '/extensions',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': encoded.headers.get('content-type') ?? '',
      ...headers,
    },
    payload: Buffer.from(await encoded.arrayBuffer()),
  });
}

function formOf(file: Buffer, name?: string): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(file)]), 'extension.zip');
  if (name !== undefined) form.set('name', name);
  return form;
}

describe('extensions', () => {
  it('work with the public client', async () => {
    const running = await startApi({ ...fixture().deps, port: 0 });
    const { extensions } = new Kernel({ apiKey: API_KEY, baseURL: running.url, maxRetries: 0 });
    const archive = await zip();
    const made = await extensions.upload({ file: await toFile(archive, 'extension.zip'), name: 'of the client' });
    expect(await extensions.get('of the client')).toEqual(made);
    const download = await extensions.download(made.id);
    expect(Buffer.from(await download.arrayBuffer()).equals(archive)).toBe(true);
    expect((await extensions.list({ query: 'of the' })).items).toEqual([made]);
    await expect(extensions.downloadFromChromeStore({ url: 'https://example.com' })).rejects.toMatchObject({
      status: 404,
    });
    await extensions.delete('of the client');
    expect((await extensions.list({ query: 'of the' })).items).toEqual([]);
    await running.close();
  });

  it('are uploaded, read by id and name, listed, downloaded and deleted', async () => {
    const { call, store } = fixture();
    const archive = await zip();
    const made = await send(formOf(archive, ' Märker/1 '));
    expect(made.statusCode).toBe(201);
    const { id } = made.json<{ id: string }>();
    expect(made.json()).toMatchObject({
      id,
      name: 'Märker/1',
      size_bytes: archive.length,
      checksum: createHash('sha256').update(archive).digest('hex'),
      last_used_at: null,
    });
    const byName = `/extensions/${encodeURIComponent('Märker/1')}`;
    for (const url of [`/extensions/${id}/metadata`, `${byName}/metadata`])
      expect((await call('GET', url)).json()).toEqual(made.json());
    for (const query of ['', '?name=M%C3%A4rker/1', '?query=M%C3%84RK', `?query=${id}`]) {
      expect((await call('GET', `/extensions${query}`)).json()).toEqual([made.json()]);
    }
    expect((await call('GET', '/extensions?query=other')).json()).toEqual([]);
    const download = await call('GET', byName);
    expect(download.headers['content-type']).toBe('application/zip');
    expect(download.rawPayload.equals(archive)).toBe(true);
    const project = await store.projects.defaultOf('org_default');
    expect(await store.extensions.use(project.id, { name: 'Märker/1' })).toEqual({ id, archive });
    // Clients that know ids of another look send ours as names.
    expect(await store.extensions.use(project.id, { name: id })).toEqual({ id, archive });
    const used = await call('GET', `${byName}/metadata`);
    expect(used.json<{ last_used_at: string | null }>().last_used_at).not.toBeNull();
    expect((await call('DELETE', byName)).statusCode).toBe(204);
    for (const url of [byName, `${byName}/metadata`]) expect((await call('GET', url)).statusCode).toBe(404);
    expect((await call('DELETE', byName)).statusCode).toBe(404);
  });

  it('are stored as the archive inside a packed extension', async () => {
    const archive = await zip();
    const made = await send(formOf(packed(archive)));
    expect(made.json()).toMatchObject({ name: null, size_bytes: archive.length });
  });

  it('have unique names in a project', async () => {
    const { store } = fixture();
    const archive = await zip();
    expect((await send(formOf(archive, 'twice'))).statusCode).toBe(201);
    const again = await send(formOf(archive, 'twice'));
    expect(again.statusCode).toBe(409);
    expect(again.json<{ message: string }>().message).toMatch(/^name: /);
    const other = await store.projects.create('org_default', { name: 'elsewhere' });
    const elsewhere = { 'x-kernel-project-id': other.id };
    expect((await send(formOf(archive, 'twice'), API_KEY, elsewhere)).statusCode).toBe(201);
    const listed = await fixture().call('GET', '/extensions?name=twice', null, elsewhere);
    expect(listed.json()).toHaveLength(1);
  });

  it('are rejected, naming the field, if no session could load them', async () => {
    const { call } = fixture();
    const before = (await call('GET', '/extensions')).json<object[]>().length;
    const extra = formOf(await zip());
    extra.set('colour', 'red');
    const manifest = (more: object) => zip({ 'manifest.json': JSON.stringify({ ...MANIFEST, ...more }) });
    const refused: [FormData, RegExp][] = [
      [new FormData(), /^file: required/],
      [formOf(Buffer.from('no archive')), /^file: /],
      [formOf(packed(await zip(), 2)), /^file: .*version 3/],
      [formOf(packed(Buffer.alloc(0))), /^file: /],
      [formOf(await zip({ 'a/manifest.json': '{}' })), /^file: .*manifest\.json at the root/],
      [formOf(await zip({ 'manifest.json': '{' })), /^file: manifest\.json/],
      [formOf(await manifest({ optional_permissions: ['debugger'] })), /^file: manifest\.json: .*debugger/],
      [formOf(await manifest({ permissions: ['proxy'] })), /^file: manifest\.json: .*proxy/],
      [formOf(await zip(), '..'), /^name: /],
      [extra, /^colour: /],
    ];
    for (const [form, message] of refused) {
      const answer = await send(form);
      expect(answer.json<{ message: string }>().message).toMatch(message);
      expect(answer.statusCode).toBe(400);
    }
    const json = await call('POST', '/extensions', { name: 'x' });
    expect(json.statusCode).toBe(415);
    expect((await send(formOf(await zip()), 'no-key')).statusCode).toBe(401);
    expect((await call('GET', '/extensions')).json()).toHaveLength(before);
  });

  it('are not fetched from the Chrome Web Store', async () => {
    const answer = await fixture().call('GET', '/extensions/from_chrome_store?url=https%3A%2F%2Fexample.com');
    expect(answer.statusCode).toBe(404);
    expect(answer.json<{ message: string }>().message).toContain('POST /extensions');
  });
});
