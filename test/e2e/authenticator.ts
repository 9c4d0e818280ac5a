import { Secret, TOTP } from 'otpauth';

/** Code of an authenticator app, now; in a period's last seconds it waits for the next, as the site takes each once. */
export async function authenticatorCode(secret: string): Promise<string> {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate();
}
