import { getDomainWithoutSuffix } from 'tldts';
import type { ConnectionDocument } from '../contract/document.ts';
import { isOwnLink } from '../contract/site-hosts.ts';
import type { ConnectionRow } from '../store/queries/connection-lookups.ts';
import type { ProjectScope } from '../store/scope.ts';
import type { Store } from '../store/store.ts';
import { findCode } from './find-code.ts';
import { findSignInLink } from './find-link.ts';
import type { CodeInbox, Found } from './inbox.ts';

/** A text message or an e-mail that arrived. */
export interface Message {
  channel: 'sms' | 'email';
  /** The numbers or addresses that it came to. */
  to: readonly string[];
  from: string;
  text: string;
  /** Its markup, of a mail that has any. */
  html?: string | undefined;
}

/** What {@link receiveMessage} needs. */
export interface ReceiveDeps {
  store: { connections: Pick<Store['connections'], 'expectingCodesAt'> };
  inbox: Pick<CodeInbox, 'take'>;
}

/**
 * Gives the code or the link in a message to the connection that it is for: of those with its number or address, the one whose login is in
 * progress, and of several the one whose site the message names. Where that is not one connection, nobody gets it. Whether it was
 * taken is nothing for who sent it.
 * @param scope the project whose provider passed it on; null for what came by SMTP, which must be for one project alone.
 */
export async function receiveMessage(
  { store, inbox }: ReceiveDeps,
  scope: ProjectScope | null,
  message: Message,
): Promise<boolean> {
  const to = message.to.map((each) =>
    message.channel === 'sms' ? each.replaceAll(/[ ().-]/g, '') : each.toLowerCase(),
  );
  const expecting = await store.connections.expectingCodesAt(scope, message.channel, to);
  if (new Set(expecting.map(({ projectId }) => projectId)).size > 1) return false;
  const waiting = expecting.filter(({ document: { flow } }) => flow?.flow_status === 'IN_PROGRESS');
  const named = waiting.filter((row) => names(message, row));
  const [meant, other] = waiting.length === 1 ? waiting : named;
  if (meant === undefined || other !== undefined) return false;
  const found = findIn(message, meant.document);
  return found !== null && (await inbox.take(meant.document, found));
}

/** The code in a message and, where it is no text message, the link that signs in at the connection's site; null without either. */
export function findIn(
  { channel, text, html }: Pick<Message, 'text' | 'html'> & Partial<Pick<Message, 'channel'>>,
  { settings: { domain, allowed_domains: allowedDomains = [] } }: ConnectionDocument,
): Found | null {
  const isOwn = (link: string): boolean => isOwnLink(link, { domain, allowedDomains });
  const link = channel === 'sms' ? null : findSignInLink({ text, html }, isOwn);
  const code = findCode(text);
  return code === null && link === null ? null : { code, link };
}

/** True of a message whose sender or text names the site of a connection. */
function names({ from, text, html = '' }: Message, { domain }: ConnectionRow): boolean {
  const [host = domain] = domain.split(':');
  const name = (getDomainWithoutSuffix(host) ?? host).toLowerCase();
  return `${from}\n${text}\n${html}`.toLowerCase().includes(name);
}
