import type { ConnectionDocument } from '../../contract/document.ts';
import type { WorkflowTests } from './environment.ts';
import { choice, CODE_PAGE, fault, field, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

/** A credential with user name and password. */
export const STORED = {
  id: 'cred_1',
  version: 1,
  valueKeys: ['username', 'password'],
  hasTotpSecret: false,
  ssoProvider: null,
};

/** Waits for the recorded document to match; bounded, so that a hanging flow fails. */
export async function until(
  tests: WorkflowTests,
  id: string,
  wanted: (document: ConnectionDocument) => boolean,
): Promise<ConnectionDocument> {
  for (let i = 0; i < 2400; i += 1) {
    // Reads the row, like callers: a query would need the very run that may be continuing as new.
    const document = tests.world.rows.get(id);
    if (document !== undefined && wanted(document)) return document;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`never: ${JSON.stringify(tests.world.rows.get(id))}`);
}

export const waits = ({ flow }: ConnectionDocument): boolean =>
  flow?.flow_status === 'IN_PROGRESS' && flow.flow_step === 'AWAITING_INPUT';
export const ended = (document: ConnectionDocument): boolean =>
  document.flow !== null && document.flow.flow_status !== 'IN_PROGRESS';

/** Answers every pending field. */
export async function submitAll(tests: WorkflowTests, id: string, submissionId: string): Promise<void> {
  const interaction = (await until(tests, id, waits)).flow?.interaction;
  await tests.client.submit(id, {
    submissionId,
    interactionId: interaction?.interaction_id ?? '',
    fieldIds: interaction?.fields.map((field) => field.id) ?? [],
    selectedChoiceId: null,
  });
}

/** A login that asks twice: user name and password, then a code. Returns the connection's id. */
export async function loginByPerson(tests: WorkflowTests): Promise<string> {
  const id = await tests.create();
  tests.world.answers = [CODE_PAGE, INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'code');
  await submitAll(tests, id, 'sub_2');
  await until(tests, id, ended);
  return id;
}

/** A login answered entirely by a stored credential. */
export async function loginByCredential(tests: WorkflowTests): Promise<string> {
  tests.world.credential = STORED;
  const id = await tests.create({ credential: { name: 'saved' }, health_check_interval: 300 });
  await tests.client.login(id);
  await until(tests, id, ended);
  return id;
}

/** An expired session that is logged in again. */
export async function reauthThatWorks(tests: WorkflowTests): Promise<string> {
  const id = await loginByCredential(tests);
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  await tests.client.check(id);
  await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  return id;
}

/** An expired session whose password the site refuses. */
export async function reauthThatIsRefused(tests: WorkflowTests): Promise<string> {
  const id = await loginByCredential(tests);
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  tests.world.answers = [{ ...LOGIN_PAGE, website_error: 'Wrong password.' }];
  await tests.client.check(id);
  await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  await tests.client.check(id);
  return id;
}

/** A connection that is deleted while its flow waits for a person. */
export async function removedWhileWaiting(tests: WorkflowTests): Promise<string> {
  const id = await tests.create();
  await tests.client.login(id);
  await until(tests, id, waits);
  await tests.client.remove(id);
  return id;
}

/** A login that asks for the user name first and for the password on the next page. */
export async function loginInTwoSteps(tests: WorkflowTests): Promise<string> {
  const id = await tests.create();
  tests.world.discovered = [page('form', { fields: [field('identifier', 'user')] })];
  tests.world.answers = [page('form', { fields: [field('password', 'password')] }), INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_user');
  await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'password');
  await submitAll(tests, id, 'sub_password');
  await until(tests, id, ended);
  return id;
}

/** A login that offers accounts to choose from. */
export async function loginByChoice(tests: WorkflowTests, created = tests.create()): Promise<string> {
  const id = await created;
  tests.world.discovered = [page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] })];
  await tests.client.login(id);
  const { flow } = await until(tests, id, waits);
  await tests.client.submit(id, {
    submissionId: null,
    interactionId: flow?.interaction?.interaction_id ?? '',
    fieldIds: [],
    selectedChoiceId: flow?.interaction?.choices[1]?.id ?? '',
  });
  await until(tests, id, ended);
  return id;
}

/** A login that is approved on a phone, after a while. */
export async function loginDoneElsewhere(tests: WorkflowTests): Promise<string> {
  const id = await tests.create();
  tests.world.discovered = [page('external_action', { external_action_message: 'Approve it on your phone.' })];
  tests.world.shown = page('external_action');
  await tests.client.login(id);
  await until(tests, id, (document) => document.flow?.flow_step === 'AWAITING_EXTERNAL_ACTION');
  await tests.env.sleep('1 minute');
  tests.world.shown = INSIDE;
  await tests.env.sleep('1 minute');
  await until(tests, id, ended);
  return id;
}

/** A login that loses its browser while typing, starts over and asks again. */
export async function loginWithLostSession(tests: WorkflowTests): Promise<string> {
  const id = await tests.create();
  tests.world.answers = [fault('session_gone'), INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, (document) => waits(document) && document.flow?.browser_session_id === 'brw_2');
  await submitAll(tests, id, 'sub_2');
  await until(tests, id, ended);
  return id;
}

/** A login and a check under an entity that continues as new at every point. */
export async function continuedAsNew(tests: WorkflowTests): Promise<string> {
  const id = await tests.createRestless({ health_check_interval: 300 });
  tests.world.answers = [CODE_PAGE, INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'code');
  await submitAll(tests, id, 'sub_2');
  await until(tests, id, ended);
  await tests.client.check(id);
  return id;
}

/** A login and a REAUTH whose mailed link arrives automatically and is opened in the waiting session. */
export async function loginByMailedLink(tests: WorkflowTests): Promise<string> {
  const sent = page('external_action', { url: 'https://site.example/sent', mailed_link: true });
  tests.world.credential = STORED;
  tests.world.shown = sent;
  tests.world.answers = [sent, INSIDE, sent, INSIDE];
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  const id = await tests.create({
    credential: { name: 'saved' },
    health_check_interval: 300,
    codes: { api: ['email'] },
  });
  for (const submissionId of ['sub_login', 'sub_reauth']) {
    if (submissionId === 'sub_login') await tests.client.login(id);
    else await tests.client.check(id);
    const { flow } = await until(tests, id, (document) => document.flow?.interaction?.takes_link === true);
    const interactionId = flow?.interaction?.interaction_id ?? '';
    await tests.client.submit(id, { submissionId, interactionId, fieldIds: ['mailed_link'], selectedChoiceId: null });
    await until(tests, id, ended);
  }
  return id;
}

/** Checks by request only, one that notices a removed password, and one that needs a browser. */
export async function checkedQuickly(tests: WorkflowTests): Promise<string> {
  const { world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.client.check(id);
  await tests.client.check(id);
  world.credential = { ...STORED, version: 2, valueKeys: ['username'] };
  await tests.client.check(id);
  world.health = [
    { outcome: 'inconclusive', errorCode: 'network_error', credential: null },
    { outcome: 'authenticated', errorCode: null, credential: null },
  ];
  await tests.client.check(id);
  await tests.client.check(id);
  return id;
}

/** A later run with a watch, interrupted by a manual check, a login and an inconclusive site. */
export async function watchedSession(tests: WorkflowTests): Promise<string> {
  const { client, env, world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await client.check(id);
  await env.sleep('22 minutes');
  await client.check(id);
  await env.sleep('12 minutes');
  world.health = [
    { outcome: 'inconclusive', errorCode: 'network_error', credential: null },
    { outcome: 'authenticated', errorCode: null, credential: null },
  ];
  await env.sleep('22 minutes');
  return id;
}

/** A later run whose wait for the next check is shortened by a manual check and other intervals. */
export async function checkedOnTime(tests: WorkflowTests): Promise<string> {
  const { client, env, world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await client.check(id);
  await env.sleep('12 minutes');
  await client.check(id);
  await client.configure(id, { health_check_interval: 86_400 });
  await env.sleep('1 hour');
  await client.configure(id, { health_check_interval: 300 });
  await env.sleep('12 minutes');
  return id;
}
