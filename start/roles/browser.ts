import { startBrowserRole } from '../browser-role.ts';
import { runRole } from './run-role.ts';

await runRole('browser', (settings, keys) => startBrowserRole(settings, keys));
