import { chromium, type Browser } from 'playwright-core';
import type {} from './provision.ts';
import { inject } from 'vitest';

/**
 * Starts a browser for a person at the hosted page or the console, or for tests that read pages; Holdfast's sessions never use it.
 * Prefers the headless shell, whose tabs need a third of the processor time.
 */
export function launchViewer(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('viewerPath'),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
