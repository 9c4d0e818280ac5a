import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { Store } from '../store/store.ts';
import { receiveMessage, type ReceiveDeps } from './receive.ts';

/** Largest mail that is taken, in bytes: a mail with a code is small. */
const MAX_MAIL_BYTES = 1024 * 1024;
/** Most connections at a time, and how long one may be idle, in milliseconds. */
const MAX_CLIENTS = 50;
const IDLE_MS = 30_000;

/** What {@link startSmtp} needs. */
export interface SmtpOptions extends ReceiveDeps {
  store: ReceiveDeps['store'] & { connections: Pick<Store['connections'], 'expectingCodesAt'> };
  port: number;
  host: string;
}

/**
 * Takes mail for the addresses of connections, and for no other: the code or link in it goes to the login that waits, nothing is kept or
 * passed on. Behind the mail server of the addresses' domain, which says who may send. Rejects when the port is taken.
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
        ({ length }) => {
          done(length > 0 ? null : refusal(550, 'No such address'));
        },
        () => {
          done(refusal(451, 'Try again later'));
        },
      );
    },
    onData: (stream, session, done) => {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => {
        if (!stream.sizeExceeded) pieces.push(piece);
      });
      stream.on('end', () => {
        if (stream.sizeExceeded) {
          done(refusal(552, 'The message is too large'));
          return;
        }
        takeMail(options, to, Buffer.concat(pieces)).then(
          () => {
            done();
          },
          () => {
            done(refusal(451, 'Try again later'));
          },
        );
      });
    },
  });
  // A client that breaks off is its own affair.
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

async function takeMail(deps: ReceiveDeps, to: string[], raw: Buffer): Promise<void> {
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

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
