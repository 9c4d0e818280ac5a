import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { receiveMessage, type ReceiveDeps } from './receive.ts';

/** Mails with codes are small. */
const MAX_MAIL_BYTES = 1024 * 1024;
/** Limit of concurrent connections. */
const MAX_CLIENTS = 50;
const IDLE_MS = 30_000;

/** What {@link startSmtp} needs. */
export interface SmtpOptions extends ReceiveDeps {
  port: number;
  host: string;
}

/**
 * Starts an SMTP server that accepts mail only for the addresses of connections, and passes codes and links to their logins. Mail is
 * neither stored nor relayed. Run it behind the domain's mail server, which decides who may send. Rejects if the port is in use.
 */
export async function startSmtp(options: SmtpOptions): Promise<{ port: number; close(): Promise<void> }> {
  const { store } = options;
  const server = new SMTPServer({
    banner: 'Holdfast',
    hideSTARTTLS: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: MAX_MAIL_BYTES,
    maxClients: MAX_CLIENTS,
    socketTimeout: IDLE_MS,
    logger: false,
    onRcptTo: ({ address }, _session, done) => {
      store.connections.expectingCodesAt(null, 'email', [address.toLowerCase()]).then(
        ({ length }) => done(length > 0 ? null : smtpError(550, 'No such address')),
        () => done(smtpError(451, 'Try again later')),
      );
    },
    onData: (stream, session, done) => {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        if (!stream.sizeExceeded) chunks.push(chunk);
      });
      stream.on('end', () => {
        if (stream.sizeExceeded) {
          done(smtpError(552, 'The message is too large'));
          return;
        }
        receiveMail(options, to, Buffer.concat(chunks)).then(
          () => done(),
          () => done(smtpError(451, 'Try again later')),
        );
      });
    },
  });
  // Ignores clients that disconnect.
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}

async function receiveMail(deps: ReceiveDeps, to: string[], raw: Buffer): Promise<void> {
  const mail = await PostalMime.parse(raw);
  const text = mail.text ?? mail.html?.replaceAll(/<style[\s\S]*?<\/style>|<[^>]+>/gi, ' ') ?? '';
  await receiveMessage(deps, null, {
    channel: 'email',
    to,
    from: mail.from?.address ?? '',
    text: `${mail.subject ?? ''}\n${text}`,
    html: mail.html,
  });
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
