import { getDomainWithoutSuffix } from 'tldts';
import type { ConnectionDocument } from '../contract/document.ts';
import { isOwnLink } from '../contract/site-hosts.ts';
import type { ConnectionRow } from '../store/queries/connection-lookups.ts';
import type { ProjectScope } from '../store/scope.ts';
import type { Store } from '../store/store.ts';
import { findCode } from './find-code.ts';
import { findSignInLink } from './find-link.ts';
import type { CodeInbox, FoundCode } from './inbox.ts';

/** A received text message or e-mail. */
export interface Message {
  channel: 'sms' | 'email';
  /** Recipient numbers or addresses. */
  to: readonly string[];
  from: string;
  text: string;
  /** HTML of an e-mail, if it has any. */
  html?: string | undefined;
}

/** What {@link receiveMessage} needs. */
export interface ReceiveDeps {
  store: { connections: Pick<Store['connections'], 'expectingCodesAt'> };
  inbox: Pick<CodeInbox, 'take'>;
}

/**
 * Delivers the code or link in a message to its connection: of those with this number or address, the one with a login in progress, and
 * of several the one whose site the message mentions. If that is not exactly one, the message is dropped.
 * @param scope the project whose provider forwarded the message; null for SMTP, where the recipient must belong to a single project.
 * @returns whether it was delivered; do not reveal this to the sender.
 */
export async function receiveMessage(
  { store, inbox }: ReceiveDeps,
  scope: ProjectScope | null,
  message: Message,
): Promise<boolean> {
  const to = message.to.map((each) =>
    message.channel === 'sms' ? each.replaceAll(/[ ().-]/g, '') : each.toLowerCase(),
  );
  const candidates = await store.connections.expectingCodesAt(scope, message.channel, to);
  if (new Set(candidates.map(({ projectId }) => projectId)).size > 1) return false;
  const waiting = candidates.filter(({ document: { flow } }) => flow?.flow_status === 'IN_PROGRESS');
  const named = waiting.filter((row) => mentionsSite(message, row));
  const [match, other] = waiting.length === 1 ? waiting : named;
  if (match === undefined || other !== undefined) return false;
  const found = findCodeOrLink(message, match.document);
  return found !== null && (await inbox.take(match.document, found));
}

/** The code and, except in a text message, the sign-in link for the connection's site; null if there is neither. */
export function findCodeOrLink(
  { channel, text, html }: Pick<Message, 'text' | 'html'> & Partial<Pick<Message, 'channel'>>,
  { settings: { domain, allowed_domains: allowedDomains = [] } }: ConnectionDocument,
): FoundCode | null {
  const isOwn = (link: string): boolean => isOwnLink(link, { domain, allowedDomains });
  const link = channel === 'sms' ? null : findSignInLink({ text, html }, isOwn);
  const code = findCode(text);
  return code === null && link === null ? null : { code, link };
}

/** True if the sender or the text mentions the site of a connection. */
function mentionsSite({ from, text, html = '' }: Message, { domain }: ConnectionRow): boolean {
  const [host = domain] = domain.split(':');
  const name = (getDomainWithoutSuffix(host) ?? host).toLowerCase();
  return `${from}\n${text}\n${html}`.toLowerCase().includes(name);
}
