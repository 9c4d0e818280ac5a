import { createInterface } from 'node:readline/promises';
import { Client, Connection } from '@temporalio/client';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import { connectTemporal, openStore } from '../../start/backends.ts';
import { loadKeys, sharedKeys } from '../../start/keys.ts';
import { parseSettings } from '../../start/settings.ts';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';

/**
 * Logs a connection in at the terminal, holding a Temporal client instead of an API key.
 *
 *   npx tsx docs/examples/log-in.ts PROFILE DOMAIN [LOGIN_URL]
 *
 * It takes the environment of the other roles: next to `npm start` in the same folder it needs nothing.
 */
const [profileName, domain, loginUrl] = process.argv.slice(2);
if (profileName === undefined || domain === undefined) {
  process.stderr.write('Usage: log-in.ts PROFILE DOMAIN [LOGIN_URL]\n');
  process.exit(2);
}

// 1. The same database, Temporal server and keys as every role of the installation.
const settings = parseSettings();
const keys = await loadKeys(settings);
const store = await openStore(settings, keys);
const { identityKey, payloadKeys } = await sharedKeys(store, keys);
const { connection, namespace } = await connectTemporal(settings, (options) => Connection.connect(options));
const connections = createConnectionsClient({
  temporal: new Client({
    connection,
    namespace,
    dataConverter: createDataConverter(payloadKeys),
  }),
  identityKey,
});

// 2. One connection for a profile and a domain, however often this runs.
const { outcome, document: made } = await connections.create({
  organizationId: DEFAULT_ORGANIZATION_ID,
  projectId: DEFAULT_PROJECT_ID,
  settings: {
    profile_name: profileName,
    domain,
    ...(loginUrl === undefined ? {} : { login_url: loginUrl }),
    auto_reauth: true,
    health_checks: true,
    health_check_interval: 3600,
    save_credentials: true,
    record_session: false,
  },
});
say(`connection ${outcome}: ${made.id}`);

// 3. A flow, and every state of it as it happens.
const terminal = createInterface({ input: process.stdin, output: process.stderr });
const lines = terminal[Symbol.asyncIterator]();
await connections.login(made.id);
let answered = 0;
for await (const document of connections.follow(made.id)) {
  const { flow } = document;
  if (flow === null) continue;
  say(`${flow.flow_status} ${flow.flow_step}`);
  if (flow.interaction !== null) await answer(document);
}

// 4. The connection as its workflow holds it now.
const end = await connections.read(made.id);
say(`${end.status} ${end.flow?.error_code ?? end.post_login_url ?? ''}`.trim());

terminal.close();
await connection.close();
await store.close();
process.exitCode = end.status === 'AUTHENTICATED' ? 0 : 1;

/** Asks at the terminal for what waits, seals it, and tells the workflow where it is sealed. */
async function answer({ id, flow }: ConnectionDocument): Promise<void> {
  const interaction = flow?.interaction;
  if (flow === null || interaction === null || interaction === undefined) return;
  const values: Record<string, string> = {};
  for (const field of interaction.fields) values[field.id] = await ask(field.label ?? field.type);
  const choice = interaction.fields.length > 0 ? undefined : await choose(interaction.choices);

  // Values never travel through Temporal: they are sealed in the store, and typed from there, once.
  const { submissionId } = await store.submissions.seal({
    connectionId: id,
    interactionId: interaction.interaction_id,
    values,
    expiresAt: new Date(flow.flow_expires_at),
  });
  const input = {
    submissionId: choice === undefined ? submissionId : null,
    interactionId: interaction.interaction_id,
    fieldIds: Object.keys(values),
    selectedChoiceId: choice ?? null,
  };
  // An update answers when the workflow has taken the values, or throws why not. A signal is not answered: a caller that
  // cannot wait sends one and sees in the states that follow what came of it.
  answered += 1;
  if (answered === 1) await connections.submit(id, input);
  else await connections.submitBySignal(id, input);
}

async function choose(choices: { id: string; label: string }[]): Promise<string | undefined> {
  if (choices.length === 0) return undefined;
  const wanted = (await ask(`one of: ${choices.map(({ label }) => label).join(' | ')}`)).toLowerCase();
  return choices.find(({ label }) => label.toLowerCase().includes(wanted))?.id;
}

async function ask(what: string): Promise<string> {
  process.stderr.write(`${what}: `);
  const line = await lines.next();
  if (line.done === true) throw new Error('the terminal was closed in the middle of the login');
  return line.value;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
