import type { AddressInfo } from 'node:net';
import { mkdir } from 'node:fs/promises';
import { type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import type { ServiceFixture } from '../api/service-fixture.ts';
import { visit } from '../hosted/visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];

/** One browser, and visits of a person who is signed in to the console of a service. */
export interface ConsoleVisits {
  base: string;
  /** `finish` ends the visit, and fails when its pages have complained: of CSP violations, of faults of scripts. */
  begin(options: BrowserContextOptions): Promise<{ page: Page; context: BrowserContext; finish: () => Promise<void> }>;
  /** Keeps a picture of the page in the folder that CONSOLE_SHOTS names, to be looked at. */
  shot(page: Page, name: string): Promise<void>;
  close(): Promise<void>;
}

/** Keeps a picture of a page in the folder that CONSOLE_SHOTS names, to be looked at. */
export async function keepShot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}

/** Has a service of the tests listen, and opens a browser to visit its console with. */
export async function openConsole({ app, store, deps }: ServiceFixture): Promise<ConsoleVisits> {
  const organizationId = DEFAULT_ORGANIZATION_ID;
  const browser = await openViewer();
  await app.listen({ port: 0, host: 'localhost' });
  const base = `http://localhost:${(app.server.address() as AddressInfo).port}`;
  // Passkeys are good for the address that people know.
  deps.settings.publicUrl = base;
  return {
    base,
    begin: async (options) => {
      const { context, page, complaints } = await visit(browser, options);
      const { id } = await store.users.create({ organizationId, email: 'ann@example.com', name: 'Ann' });
      await store.memberships.add(organizationId, id, 'owner');
      const { token } = await store.userSessions.begin(id, organizationId);
      await context.addCookies([{ name: 'holdfast_session', value: token, url: base }]);
      return {
        page,
        context,
        finish: async () => {
          expect(complaints).toEqual([]);
          await context.close();
        },
      };
    },
    shot: keepShot,
    close: () => closeViewer(browser),
  };
}
