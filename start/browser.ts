import { lockHolder } from './data-lock.ts';
import { loadKeys } from './keys.ts';
import { ownStore } from './postgres/own-store.ts';
import { standaloneBrowserPorts, planStandaloneBrowser } from './processes.ts';
import { standaloneBrowserQuickStart } from './quick-start.ts';
import { runCommand } from './run-command.ts';
import { runTree } from './run-tree.ts';
import { parseSettings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';

/**
 * `npm run browser`: the browser service without the rest of Holdfast. Where there is a store for it already (the database
 * at DATABASE_URL, or that of an `npm start` on the same folder) it is one process that uses it; else it brings its own.
 */
async function main(): Promise<void> {
  const settings = parseSettings();
  if (settings.databaseUrl !== undefined || (await lockHolder(settings.dataDir)) !== null) {
    await import('./roles/browser.ts');
    return;
  }
  await runTree({
    name: 'the browser service',
    dataDir: settings.dataDir,
    ports: standaloneBrowserPorts(settings),
    plan: async () => {
      await loadKeys(settings);
      return planStandaloneBrowser(
        settings,
        await findChromium(settings.chromiumPath),
        await ownStore(settings.dataDir),
      );
    },
    ready: async () => standaloneBrowserQuickStart(settings, await loadKeys(settings)),
  });
}

await runCommand(main);
