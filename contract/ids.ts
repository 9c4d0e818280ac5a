import { randomBytes } from 'node:crypto';

/** Prefixes of identifiers, by resource. */
type IdPrefix =
  | 'org'
  | 'prj'
  | 'key'
  | 'prof'
  | 'cred'
  | 'cpv'
  | 'prx'
  | 'ext'
  | 'sub'
  | 'int'
  | 'flow'
  | 'evt'
  | 'brw'
  | 'pool'
  | 'proc'
  | 'rep'
  | 'inv'
  | 'dep'
  | 'app'
  | 'aud'
  | 'aed'
  | 'whk'
  | 'msg'
  | 'dlv'
  | 'cds'
  | 'user'
  | 'ses'
  | 'ivt';

/** A new opaque identifier: prefix and 128 random bits in base 36. Not for workflow code, which must be deterministic. */
export function newId(prefix: IdPrefix): string {
  const bits = BigInt(`0x${randomBytes(16).toString('hex')}`);
  return `${prefix}_${bits.toString(36).padStart(25, '0')}`;
}
