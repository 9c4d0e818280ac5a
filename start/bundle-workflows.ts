import { writeFile } from 'node:fs/promises';
import { bundleWorkflows } from '../workers/worker.ts';

/** Writes the bundled workflow code to the file named by the first argument, then ends. */
const [file] = process.argv.slice(2);
if (file === undefined) throw new TypeError('name the file to write');
const { code } = await bundleWorkflows();
await writeFile(file, code);
process.exit(0);
