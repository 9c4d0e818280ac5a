import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app shows now. The practice site also accepts the previous one. */
export function authenticatorCode(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}
