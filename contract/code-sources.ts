import { z } from 'zod';

/** Services that forward the messages sent to numbers and addresses of connections. */
export const CodeSourceType = z.enum(['twilio', 'mailgun']);
export type CodeSourceType = z.infer<typeof CodeSourceType>;

/** Body of `POST /code_sources`. */
export const CodeSourceCreate = z.strictObject({
  type: CodeSourceType,
  secret: z.string().min(8).max(500).describe('Write-only. Twilio: the auth token; Mailgun: the webhook signing key'),
});

/** A code source, without its secret. */
export const CodeSource = z.strictObject({
  id: z.string(),
  type: CodeSourceType,
  url: z.string().describe('Where the provider must post messages'),
  created_at: z.string(),
});
export type CodeSource = z.infer<typeof CodeSource>;
