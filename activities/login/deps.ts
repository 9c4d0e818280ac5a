import type { ExternalCredentials } from '../../credential-providers/external-credentials.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { Store } from '../../store/store.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import type { CaptchaSolver } from './captcha/solver-client.ts';
import type { Pages } from './session/pages.ts';
import type { FormModel } from './reading/form-model.ts';

/** Dependencies of the login activities. */
export interface LoginDeps {
  store: Store;
  service: BrowserService;
  pages: Pages;
  egress: EgressPolicy;
  externalCredentials: ExternalCredentials;
  /** Chooses between similar forms; optional. */
  model?: FormModel | undefined;
  /** Tried before a person is asked; optional. */
  captchas?: CaptchaSolver | undefined;
}
