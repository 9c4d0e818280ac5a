import type { ExternalCredentials } from '../../credential-providers/external-credentials.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { Store } from '../../store/store.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import type { CaptchaSolver } from './captcha/solver-client.ts';
import type { Pages } from './session/pages.ts';
import type { FormModel } from './reading/form-model.ts';

/** What the login activities are made of; tests hand in their own. */
export interface LoginDeps {
  store: Store;
  service: BrowserService;
  pages: Pages;
  egress: EgressPolicy;
  externalCredentials: ExternalCredentials;
  /** Asked between forms that look alike; most installations have none. */
  model?: FormModel | undefined;
  /** Asked before a person is; most installations have none. */
  captchas?: CaptchaSolver | undefined;
}
