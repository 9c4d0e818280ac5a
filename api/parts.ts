import { createBrowserService, type BrowserService } from '../browser-client/service.ts';
import { createCodeInbox, type CodeInbox } from '../codes/inbox.ts';
import { createCodeTokens, type CodeTokens } from './auth-connections/tokens.ts';
import { createConnectionViews, type ConnectionViews } from './auth-connections/views.ts';
import { DEFAULT_RATE_LIMITS, type ApiDeps } from './context.ts';
import { createHandoffCodes, type HandoffCodes } from './auth-connections/tokens.ts';
import { createHostedTokens, type HostedTokens } from './auth-connections/tokens.ts';
import { createSigningKeys, type SigningKeys } from './oauth/signing-keys.ts';
import { createAddressLimiter, type RateLimiter } from './rate-limit.ts';
import { createOpenStreams, type OpenStreams } from './streams.ts';

/** What routes work with: the dependencies of the API and the objects created from them. */
export interface ApiParts extends ApiDeps {
  handoffCodes: HandoffCodes;
  hostedTokens: HostedTokens;
  views: ConnectionViews;
  inbox: CodeInbox;
  codeTokens: CodeTokens;
  streams: OpenStreams;
  signingKeys: SigningKeys;
  browserService: BrowserService;
  limits: { byAddress: RateLimiter; byCredential: RateLimiter };
}

/** Creates the parts that one API process shares between its routes. */
export function createApiParts(deps: ApiDeps): ApiParts {
  const { addressRateLimit = DEFAULT_RATE_LIMITS.address, credentialRateLimit = DEFAULT_RATE_LIMITS.credential } =
    deps.settings;
  const handoffCodes = createHandoffCodes(deps.signingKey, deps.clock);
  return {
    ...deps,
    handoffCodes,
    hostedTokens: createHostedTokens(deps.signingKey, deps.clock),
    views: createConnectionViews(deps, handoffCodes),
    inbox: createCodeInbox(deps),
    codeTokens: createCodeTokens(deps.signingKey, deps.clock),
    streams: createOpenStreams(),
    signingKeys: createSigningKeys(deps),
    browserService: createBrowserService({
      baseUrl: deps.settings.browserBaseUrl,
      apiKey: deps.settings.browserApiKey,
    }),
    limits: {
      byAddress: createAddressLimiter(addressRateLimit),
      byCredential: { limit: credentialRateLimit, ...deps.store.rateLimiter('credentials', credentialRateLimit) },
    },
  };
}
