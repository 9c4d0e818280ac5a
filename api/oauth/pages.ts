import type { OAuthAccess } from '../../contract/oauth.ts';
import type { HoldfastError } from '../../contract/errors.ts';
import type { Language } from '../hosted/shell.ts';
import { escapeHtml } from '../html/page-head.ts';
import { staticPage, type StaticPage } from '../html/static-page.ts';
import { CONSENT_WORDS } from './words.ts';

/** Data of the consent page. */
export interface ConsentView {
  client: string;
  /** Redirect URI of the program; the only thing here that it cannot make up. */
  redirectUri: string;
  person: string;
  organization: string;
  projects: readonly { id: string; name: string }[];
  /** Requested access levels, the widest first. */
  accesses: readonly OAuthAccess[];
}

/** The consent page: may a program act for the person, and with which access? */
export function consentPage(view: ConsentView, language: Language): StaticPage {
  const words = CONSENT_WORDS[language];
  const names = {
    client: escapeHtml(view.client),
    person: escapeHtml(view.person),
    organization: escapeHtml(view.organization),
    address: `<code>${escapeHtml(view.redirectUri)}</code>`,
  };
  const accesses = view.accesses.map((one, index) => radio('access', one, words.rights[one], index === 0)).join('');
  const projects = view.projects
    .map(({ id, name }) => radio('project', id, fill(words.project, { project: escapeHtml(name) }), false))
    .join('');
  const body = `<h1>${fill(words.question, names)}</h1>
<p>${fill(words.asks, names)}
${fill(words.named, names)}</p>
<form method="post">
<fieldset><legend>${words.what}</legend>${accesses}</fieldset>
<fieldset><legend>${words.where}</legend>${radio('project', '', words.everywhere, true)}${projects}</fieldset>
<p>${words.limits}</p>
<p class="actions"><button class="button primary" name="answer" value="allow">${words.allow}</button><button class="button" name="answer" value="deny">${words.deny}</button></p>
</form>`;
  return staticPage(language, { title: words.title, body, formTargets: formTargets(view.redirectUri) });
}

/** Page that sends people who are not signed in to the console, and back. */
export function signInPage(consentPath: string, language: Language): StaticPage {
  const words = CONSENT_WORDS[language];
  const target = `/console?${new URLSearchParams({ return_to: consentPath }).toString()}`;
  const link = `<a href="${escapeHtml(target)}" target="_blank">${words.signInLink}</a>`;
  const body = `<h1>${words.signIn}</h1>
<p>${fill(words.signInText, { link })}</p>
<p class="actions"><a class="button primary" href="${escapeHtml(consentPath)}">${words.signedIn}</a></p>`;
  return staticPage(language, { title: words.signInTitle, body });
}

/** Page for an invalid request without a redirect URI to report it to; `detail` is for the program's developers. */
export function errorPage(detail: string, language: Language): StaticPage {
  const words = CONSENT_WORDS[language];
  return failurePage(
    language,
    `<p>${words.wrongRequest}</p><p>${words.startAgain}</p>
<p class="muted">${words.forMakers} <code lang="en">${escapeHtml(detail)}</code></p>`,
  );
}

/** Page that says why consent could not be requested or given. */
export function refusalPage({ innerError }: HoldfastError, language: Language): StaticPage {
  const { refusals, startAgain } = CONSENT_WORDS[language];
  const known = Object.entries(refusals).find(([code]) => code === innerError?.code)?.[1];
  return failurePage(language, `<p>${known ?? refusals.fault}</p><p>${startAgain}</p>`);
}

function failurePage(language: Language, text: string): StaticPage {
  const { failed } = CONSENT_WORDS[language];
  return staticPage(language, { title: failed, body: `<h1>${failed}</h1>${text}` });
}

/** Allowed form targets: us, and the program's redirect URI. Browsers apply `form-action` to redirects, too. */
function formTargets(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return `'self' ${origin === 'null' ? protocol : origin}`;
}

/** Fills all `{name}` placeholders at once: placeholders within values are not filled. */
function fill(sentence: string, values: Readonly<Record<string, string>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/** `label` is HTML. */
function radio(name: string, value: string, label: string, checked: boolean): string {
  return `<label><input type="radio" name="${name}" value="${escapeHtml(value)}"${checked ? ' checked' : ''}> <span>${label}</span></label>`;
}
