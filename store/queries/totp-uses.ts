/** Which TOTP periods of a credential have been used. */
export interface TotpUseQueries {
  /** True for the first caller of that period (`floor(unix seconds / period)`); a code is never sent twice in one. */
  claim(credentialId: string, periodCounter: number): Promise<boolean>;
}
