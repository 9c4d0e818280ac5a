import { createServer, Socket } from 'node:net';
import process from 'node:process';

/**
 * Runs a caller's program inside a session: `runner.mjs <playwright> <program>`. Descriptor 3 carries a WebSocket to the session's
 * browser, descriptor 4 the answer. Plain JavaScript, because the sandbox contains only this file. A program that tampers with it
 * affects only its own answer.
 */
const [playwright, program] = process.argv.slice(2);
const { HOLDFAST_RUN_PATH: path, HOLDFAST_RUN_TARGET: target, HOLDFAST_RUN_TAB: kind } = process.env;
delete process.env.HOLDFAST_RUN_PATH;
delete process.env.HOLDFAST_RUN_TARGET;
delete process.env.HOLDFAST_RUN_TAB;

const answers = new Socket({ fd: 4 });
let answered = false;
/** Describes the tab of `page`, once known. */
let tab;

function answer(content) {
  if (answered) return;
  answered = true;
  let text;
  try {
    text = JSON.stringify({ ...content, tab });
  } catch {
    text = JSON.stringify({ success: false, error: 'The result cannot be serialized as JSON', tab });
  }
  // Flush all output first: exiting would discard it.
  const streams = [answers, process.stdout, process.stderr];
  const sent = streams.map((stream) => new Promise((resolve) => stream.write(stream === answers ? text : '', resolve)));
  void Promise.all(sent).then(() => answers.end(() => process.exit(0)));
}

function fail(error) {
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  answer({ success: false, error: isError ? `${error.name}: ${error.message}` : String(error) });
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** Playwright needs an address to connect to; this one forwards one connection to the channel. */
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

/** Finds the tab for the code: its executor's own, or the active page. */
async function openTab(context) {
  for (const page of context.pages()) {
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send('Target.getTargetInfo');
    if (targetInfo.targetId === target) {
      tab = { created: kind === 'created', target_id: target };
      // Background tabs do not render, and clicks would wait for that; this session emulates focus while it is open.
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
