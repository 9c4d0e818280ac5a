import { createHmac, randomBytes } from 'node:crypto';

/** Formats of delivered messages: JSON, or those of two providers' webhooks. */
const SHAPES = ['json', 'twilio', 'mailgun'] as const;

/** Where messages to a user are posted. */
export interface Delivery {
  readonly url: string;
  readonly shape: (typeof SHAPES)[number];
  /** The recipient number or address. */
  readonly to: string;
  /** The provider's signing secret, or the bearer token for `json`. */
  readonly secret: string;
}

/** Parses a delivery from a posted form; null if `url` is missing. */
export function readDelivery(posted: (name: string) => string): Delivery | null {
  const url = posted('url');
  const shape = SHAPES.find((each) => each === posted('as')) ?? 'json';
  return URL.canParse(url) ? { url, shape, to: posted('to'), secret: posted('secret') } : null;
}

/** A sent message; a mail may also have HTML. */
export interface SentMessage {
  readonly text: string;
  readonly html?: string;
}

/** Posts a message. Failures are ignored. */
export async function deliver(delivery: Delivery, message: SentMessage): Promise<void> {
  const { headers, body } = messageOf(delivery, message);
  await fetch(delivery.url, { method: 'POST', headers, body }).catch(() => undefined);
}

function messageOf(
  { url, shape, to, secret }: Delivery,
  { text, html }: SentMessage,
): { headers: Record<string, string>; body: string } {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  switch (shape) {
    case 'json':
      return {
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify({ text }),
      };
    case 'twilio': {
      const values = { Body: text, From: '+15550100000', MessageSid: `SM${randomBytes(16).toString('hex')}`, To: to };
      const signed = Object.entries(values).reduce((all, [name, value]) => `${all}${name}${value}`, url);
      const signature = createHmac('sha1', secret).update(signed).digest('base64');
      return { headers: { ...form, 'x-twilio-signature': signature }, body: new URLSearchParams(values).toString() };
    }
    case 'mailgun': {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const token = randomBytes(25).toString('hex');
      const signature = createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex');
      const mail = {
        recipient: to,
        sender: 'login@sandbox.test',
        subject: 'Sign in',
        'body-plain': text,
        ...(html === undefined ? {} : { 'body-html': html }),
      };
      return { headers: form, body: new URLSearchParams({ ...mail, timestamp, token, signature }).toString() };
    }
  }
}
