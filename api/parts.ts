import { createConnectionAnswers, type ConnectionAnswers } from './connection-answers.ts';
import type { ApiDeps } from './context.ts';
import { createHandoffCodes, type HandoffCodes } from './handoff.ts';
import { createHostedTokens, type HostedTokens } from './hosted-token.ts';
import { createOpenStreams, type OpenStreams } from './streams.ts';

/** What routes work with: what the service was given, and what it made of it. */
export interface ApiParts extends ApiDeps {
  codes: HandoffCodes;
  tokens: HostedTokens;
  answers: ConnectionAnswers;
  streams: OpenStreams;
}

export function createApiParts(deps: ApiDeps): ApiParts {
  const codes = createHandoffCodes(deps.signingKey, deps.clock);
  return {
    ...deps,
    codes,
    tokens: createHostedTokens(deps.signingKey, deps.clock),
    answers: createConnectionAnswers(deps, codes),
    streams: createOpenStreams(),
  };
}
