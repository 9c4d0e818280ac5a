import path from 'node:path';
import { inject } from 'vitest';
import type { ServiceProgram } from '../setup/service-programs.ts';

/** The compiled entry point for a browser service in a separate process. */
export function serviceProgram(name: ServiceProgram): string {
  return path.join(inject('servicePrograms'), `${name}.mjs`);
}
