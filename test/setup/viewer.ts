import { chromium, type Browser } from 'playwright-core';
import type {} from './provision.ts';
import { inject } from 'vitest';

/**
 * Starts the browser of somebody who looks at a page: of a person at the hosted page or the console, or of a test that reads
 * pages. Where there is one it is the Chromium without windows, of which a tab costs a third of the processor's time; sessions
 * of Holdfast are never in it.
 */
export function launchViewer(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('viewerPath'),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
