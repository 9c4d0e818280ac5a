import { chromium } from 'playwright-core';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import { median, secondsOf, timed, type Figure } from './figure.ts';
import { answer, clientOf, connect, isAwaitingInput, isDone, onePageUser, waitForState } from './logins.ts';

const RUNS = 7;
const CREDENTIAL = 'bench';

/**
 * Compares a one-page login through Holdfast (API, workflow, worker, browser service, profile saved) with the same login as
 * a Playwright script (browser started, logged in, state saved). Runs alternate; the first of each is a warm-up.
 */
export async function measureLoginTime(tree: ProcessTree, chromiumPath: string): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const user = onePageUser();
  await kernel.credentials.create({
    name: CREDENTIAL,
    domain: tree.sandboxDomain,
    values: { username: user.username, password: user.password },
  });

  const byCredential = async (run: number): Promise<void> => {
    const connection = await connect(kernel, tree, `bench-stored-${run}`, { credential: CREDENTIAL });
    await kernel.auth.connections.login(connection.id);
    await waitForState(kernel, connection.id, isDone);
  };
  const byPerson = async (run: number): Promise<void> => {
    const connection = await connect(kernel, tree, `bench-person-${run}`);
    await kernel.auth.connections.login(connection.id);
    await answer(kernel, await waitForState(kernel, connection.id, isAwaitingInput));
    await waitForState(kernel, connection.id, isDone);
  };
  const script = async (): Promise<void> => {
    const browser = await chromium.launch({ executablePath: chromiumPath, chromiumSandbox: process.getuid?.() !== 0 });
    const page = await browser.newPage();
    await page.goto(`${tree.sandboxUrl}/login`);
    await page.fill('#username', user.username);
    await page.fill('#password', user.password);
    await page.click('main button[type=submit]');
    await page.waitForURL('**/account');
    await page.context().storageState();
    await browser.close();
  };

  const times = { script: [] as number[], byCredential: [] as number[], byPerson: [] as number[] };
  for (let run = 0; run <= RUNS; run += 1) {
    const measured = [
      ['script', await timed(script)],
      ['byCredential', await timed(() => byCredential(run))],
      ['byPerson', await timed(() => byPerson(run))],
    ] as const;
    if (run > 0) for (const [name, ms] of measured) times[name].push(ms);
  }
  const ratio = (median(times.byCredential) / median(times.script)).toFixed(2);
  return [
    { name: 'One-page login written straight in Playwright', value: secondsOf(times.script) },
    { name: 'The same through Holdfast, stored credential', value: secondsOf(times.byCredential) },
    { name: 'The same through Holdfast, a person who answers at once', value: secondsOf(times.byPerson) },
    { name: 'Holdfast (stored credential) over Playwright', value: `${ratio} times`, aim: 'within 1.5 times' },
  ];
}
