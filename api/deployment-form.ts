import type { FastifyRequest } from 'fastify';
import { fromBufferPromise } from 'yauzl';
import { z } from 'zod';
import { APP_REGION, DEFAULT_APP_VERSION } from '../contract/apps.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { dropRest, rejectForm } from '../http/bodies.ts';

/** Most variables of a deployment, and how long one of them may be, in characters. */
export const MAX_ENV_VARS = 200;
export const MAX_ENV_VALUE = 64 * 1024;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** What the sandbox of a program sets itself. */
const OWN_NAMES = /^(KERNEL_API_KEY|KERNEL_BASE_URL|HTTPS?_PROXY|NO_PROXY)$/i;

/** A deployment as it was sent, checked. */
export interface DeploymentForm {
  entrypoint: string;
  version: string;
  force: boolean;
  envVars: Record<string, string>;
  archive: Buffer;
}

const Entrypoint = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    (place) => !place.startsWith('/') && !place.split(/[/\\]/).includes('..'),
    'must be a path inside of the archive',
  )
  .refine((place) => /\.([cm]?[jt]s|tsx|py)$/.test(place), 'must end in .js, .mjs, .cjs, .ts, .mts, .cts, .tsx or .py');
const Version = z.string().trim().min(1).max(255);

/**
 * Receives the form of a deployment: `file`, a ZIP archive, `entrypoint_rel_path`, and maybe `version`, `force`, `region` and
 * `env_vars[NAME]`. Throws errors that name the field.
 */
export async function receiveDeployment(request: FastifyRequest): Promise<DeploymentForm> {
  if (!request.isMultipart()) {
    throw new HoldfastError(
      'unsupported_media_type',
      'Send the program as multipart/form-data, its ZIP archive in `file`',
    );
  }
  try {
    return await readForm(request).catch(rejectForm);
  } finally {
    dropRest(request.raw);
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
  refuseOthers(fields);
  if (archive === null) throw invalidField('file', 'required');
  await checkArchive(archive);
  const version = fields.get('version') ?? '';
  return {
    entrypoint: read('entrypoint_rel_path', Entrypoint, fields.get('entrypoint_rel_path') ?? ''),
    version: version === '' ? DEFAULT_APP_VERSION : read('version', Version, version),
    force: read('force', z.enum(['true', 'false', '']), fields.get('force') ?? '') === 'true',
    envVars,
    archive,
  };
}

function refuseOthers(fields: Map<string, string>): void {
  for (const name of fields.keys()) {
    if (name.startsWith('source')) {
      throw invalidField(
        'source',
        'this installation fetches no repositories; send the program as ZIP archive in `file`',
      );
    }
  }
  const region = fields.get('region') ?? '';
  if (region !== '' && region !== APP_REGION) throw invalidField('region', `must be ${APP_REGION}, or left out`);
}

function envName(name: string): string {
  const field = `env_vars.${name.slice(0, 100)}`;
  if (!ENV_NAME.test(name)) throw invalidField(field, 'must be a name of letters, digits and underscores');
  if (OWN_NAMES.test(name)) throw invalidField(field, 'is set by the sandbox of the program; choose another name');
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

/** What is no archive is refused before anything is kept. */
async function checkArchive(archive: Buffer): Promise<void> {
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    zip.close();
  } catch {
    throw invalidField('file', 'is not a valid ZIP archive');
  }
}
