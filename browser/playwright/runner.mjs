import { createServer, Socket } from 'node:net';
import process from 'node:process';

/**
 * Runs a caller's program inside a session: `runner.mjs <playwright> <program>`, with two channels to the service.
 * Descriptor 3 carries one websocket to the session's browser, descriptor 4 takes the answer. Plain JavaScript: nothing of
 * the service but this file is there. Whatever the program does to it harms its own answer alone.
 */
const [playwright, program] = process.argv.slice(2);
const { HOLDFAST_RUN_PATH: path, HOLDFAST_RUN_TARGET: target } = process.env;
delete process.env.HOLDFAST_RUN_PATH;
delete process.env.HOLDFAST_RUN_TARGET;

const answers = new Socket({ fd: 4 });
let answered = false;

function answer(content) {
  if (answered) return;
  answered = true;
  let text;
  try {
    text = JSON.stringify(content);
  } catch {
    text = JSON.stringify({ success: false, error: 'The result cannot be written as JSON' });
  }
  // What was said comes first: the end would cut off what still waits for its reader.
  const ways = [answers, process.stdout, process.stderr];
  const sent = ways.map((way) => new Promise((resolve) => way.write(way === answers ? text : '', resolve)));
  void Promise.all(sent).then(() => answers.end(() => process.exit(0)));
}

function fail(error) {
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  answer({ success: false, error: isError ? `${error.name}: ${error.message}` : String(error) });
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** Playwright connects to addresses: this one leads into the channel, for one connection. */
function openBridge() {
  const channel = new Socket({ fd: 3 });
  const bridge = createServer((client) => {
    bridge.close();
    client.on('error', () => channel.destroy());
    channel.on('error', () => client.destroy());
    client.pipe(channel).pipe(client);
  });
  return new Promise((resolve) => {
    bridge.listen(0, '127.0.0.1', () => resolve(`ws://127.0.0.1:${bridge.address().port}${path}`));
  });
}

/** The page that is in use. */
async function pageInUse(context) {
  const pages = context.pages();
  if (pages.length > 1) {
    for (const page of pages) {
      const session = await context.newCDPSession(page);
      const { targetInfo } = await session.send('Target.getTargetInfo');
      await session.detach();
      if (targetInfo.targetId === target) return page;
    }
  }
  return pages[0] ?? context.newPage();
}

try {
  const [{ chromium }, { default: run }, address] = await Promise.all([
    import(playwright),
    import(program),
    openBridge(),
  ]);
  const browser = await chromium.connectOverCDP(address, { noDefaults: true });
  const context = browser.contexts()[0] ?? (await browser.newContext());
  const result = await run(await pageInUse(context), context, browser);
  answer({ success: true, result });
} catch (error) {
  fail(error);
}
