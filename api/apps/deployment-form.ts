import type { FastifyRequest } from 'fastify';
import { fromBufferPromise } from 'yauzl';
import { z } from 'zod';
import { APP_REGION, DEFAULT_APP_VERSION, Entrypoint, GithubSource } from '../../contract/apps.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { discardRest, throwFormError } from '../../http/bodies.ts';

/** Maximum number of variables of a deployment, and their length in characters. */
export const MAX_ENV_VARS = 200;
export const MAX_ENV_VALUE = 64 * 1024;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** Variables that the sandbox of a program sets itself. */
const RESERVED_NAMES = /^(KERNEL_API_KEY|KERNEL_BASE_URL|HTTPS?_PROXY|NO_PROXY)$/i;

/** A validated deployment form. */
export interface DeploymentForm {
  entrypoint: string;
  version: string;
  force: boolean;
  envVars: Record<string, string>;
  /** The ZIP archive, or where to fetch it. */
  source: Buffer | GithubSource;
}

const Version = z.string().trim().min(1).max(255);

/**
 * Parses a deployment form: either `file` (a ZIP archive) and `entrypoint_rel_path`, or `source[…]`; optionally `version`, `force`,
 * `region` and `env_vars[NAME]`. Throws `invalid_input` naming the field.
 */
export async function parseDeploymentForm(request: FastifyRequest): Promise<DeploymentForm> {
  if (!request.isMultipart()) {
    throw new HoldfastError(
      'unsupported_media_type',
      'Send the program as multipart/form-data, with a ZIP archive in `file`, or `source`',
    );
  }
  try {
    return await readForm(request).catch(throwFormError);
  } finally {
    discardRest(request.raw);
  }
}

async function readForm(request: FastifyRequest): Promise<DeploymentForm> {
  const fields = new Map<string, string>();
  const envVars: Record<string, string> = {};
  let archive: Buffer | null = null;
  for await (const part of request.parts()) {
    if (part.type === 'file' && part.fieldname === 'file') {
      archive = await part.toBuffer();
      continue;
    }
    const value = part.type === 'field' && typeof part.value === 'string' ? part.value : null;
    if (value === null) throw invalidField(part.fieldname.slice(0, 100), 'unknown file; send `file`');
    const name = /^env_vars\[(.*)\]$/.exec(part.fieldname)?.[1];
    if (name === undefined) fields.set(part.fieldname, value);
    else envVars[envName(name)] = envValue(name, value);
  }
  const region = fields.get('region') ?? '';
  if (region !== '' && region !== APP_REGION) throw invalidField('region', `must be ${APP_REGION}, or left out`);
  const source = readSource(fields);
  if (source !== null && archive !== null) throw invalidField('source', 'send either `source` or `file`');
  if (source === null && archive === null) throw invalidField('file', 'required; or send `source`');
  if (archive !== null) await checkArchive(archive);
  const version = fields.get('version') ?? '';
  const named = fields.get('entrypoint_rel_path') ?? '';
  return {
    entrypoint: source === null || named !== '' ? read('entrypoint_rel_path', Entrypoint, named) : source.entrypoint,
    version: version === '' ? DEFAULT_APP_VERSION : read('version', Version, version),
    force: read('force', z.enum(['true', 'false', '']), fields.get('force') ?? '') === 'true',
    envVars,
    source: source ?? archive ?? Buffer.alloc(0),
  };
}

/**
 * `source`, as JSON (the TypeScript SDK) or with a field per member such as `source[auth][token]` (the Python SDK). Null if absent.
 */
function readSource(fields: ReadonlyMap<string, string>): GithubSource | null {
  const text = fields.get('source');
  const sent = text === undefined ? sourceMembers(fields) : parseJson(text);
  if (sent === null) return null;
  const result = GithubSource.safeParse(sent);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidField(['source', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is invalid');
}

function sourceMembers(fields: ReadonlyMap<string, string>): Record<string, unknown> | null {
  const source: Record<string, unknown> = {};
  const auth: Record<string, string> = {};
  for (const [name, value] of fields) {
    const authMember = /^source\[auth\]\[(\w+)\]$/.exec(name)?.[1];
    const member = /^source\[(\w+)\]$/.exec(name)?.[1];
    if (authMember !== undefined) auth[authMember] = value;
    else if (member !== undefined) source[member] = value;
  }
  if (Object.keys(auth).length > 0) source['auth'] = auth;
  return Object.keys(source).length === 0 ? null : source;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField('source', 'must be JSON');
  }
}

function envName(name: string): string {
  const field = `env_vars.${name.slice(0, 100)}`;
  if (!ENV_NAME.test(name)) throw invalidField(field, 'must be a name of letters, digits and underscores');
  if (RESERVED_NAMES.test(name)) throw invalidField(field, 'is set by the sandbox of the program; choose another name');
  return name;
}

function envValue(name: string, value: string): string {
  if (value.includes('\0')) throw invalidField(`env_vars.${name}`, 'must not contain a NUL character');
  return value;
}

function read<Schema extends z.ZodType>(field: string, schema: Schema, value: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidField(field, result.error.issues[0]?.message ?? 'is invalid');
}

async function checkArchive(archive: Buffer): Promise<void> {
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    zip.close();
  } catch {
    throw invalidField('file', 'is not a valid ZIP archive');
  }
}
