import path from 'node:path';
import { inject } from 'vitest';
import type { ServiceProgram } from '../setup/service-programs.ts';

/** The file of a browser service to be started in a process of its own, as the set-up has compiled it. */
export function serviceProgram(name: ServiceProgram): string {
  return path.join(inject('servicePrograms'), `${name}.mjs`);
}
