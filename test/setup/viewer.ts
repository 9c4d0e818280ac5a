import { chromium, type Browser } from 'playwright-core';
import type {} from './provision.ts';
import { inject } from 'vitest';

/** The files of a worker run one after another and share one browser. */
let shared: Promise<Browser> | undefined;

/**
 * The worker's browser for a person at the hosted page or the console, or for tests that read pages; Holdfast's sessions never use it.
 * Prefers the headless shell, whose tabs need a third of the processor time. End a file with {@link closeViewer}.
 */
export async function openViewer(): Promise<Browser> {
  const browser = await shared;
  if (browser?.isConnected() === true) return browser;
  shared = chromium.launch({
    executablePath: inject('viewerPath'),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return await shared;
}

/** Closes what a file has opened in the worker's browser. */
export async function closeViewer(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}
