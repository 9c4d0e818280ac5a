import { createServer, Socket } from 'node:net';
import process from 'node:process';

/**
 * Runs a caller's program inside a session: `runner.mjs <playwright> <program>`, with two channels to the service.
 * Descriptor 3 carries one websocket to the session's browser, descriptor 4 takes the answer. Plain JavaScript: nothing of
 * the service but this file is there. Whatever the program does to it harms its own answer alone.
 */
const [playwright, program] = process.argv.slice(2);
const { HOLDFAST_RUN_PATH: path, HOLDFAST_RUN_TARGET: target, HOLDFAST_RUN_TAB: kind } = process.env;
delete process.env.HOLDFAST_RUN_PATH;
delete process.env.HOLDFAST_RUN_TARGET;
delete process.env.HOLDFAST_RUN_TAB;

const answers = new Socket({ fd: 4 });
let answered = false;
/** What `page` is, once that is known. */
let tab;

function answer(content) {
  if (answered) return;
  answered = true;
  let text;
  try {
    text = JSON.stringify({ ...content, tab });
  } catch {
    text = JSON.stringify({ success: false, error: 'The result cannot be written as JSON', tab });
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

/** The tab that the code is to have: its executor's own, or the page that is in use. */
async function openTab(context) {
  for (const page of context.pages()) {
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send('Target.getTargetInfo');
    if (targetInfo.targetId === target) {
      tab = { created: kind === 'created', target_id: target };
      // A tab behind others draws nothing, and clicks would wait for that. It does while this session is open.
      if (kind !== 'shared') await session.send('Emulation.setFocusEmulationEnabled', { enabled: true });
      else await session.detach();
      return page;
    }
    await session.detach();
  }
  if (kind !== 'shared') throw new Error("The executor's tab was closed");
  const [first] = context.pages();
  const page = first ?? (await context.newPage());
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await session.detach();
  tab = { created: first === undefined, target_id: targetInfo.targetId };
  return page;
}

try {
  const [{ chromium }, { default: run }, address] = await Promise.all([
    import(playwright),
    import(program),
    openBridge(),
  ]);
  const browser = await chromium.connectOverCDP(address, { noDefaults: true });
  const context = browser.contexts()[0] ?? (await browser.newContext());
  const result = await run(await openTab(context), context, browser);
  answer({ success: true, result });
} catch (error) {
  fail(error);
}
