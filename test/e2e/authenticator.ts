import { Secret, TOTP } from 'otpauth';

/** What an authenticator app shows now. The practice site takes the code of the period before, too. */
export function authenticatorCode(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}
