import type { LoginTarget } from '../../contract/activities.ts';

/** The target of a login with default settings, except for `settings`. */
export function loginTarget(settings: Partial<LoginTarget> = {}): LoginTarget {
  return {
    connectionId: 'c',
    organizationId: 'o',
    projectId: 'p',
    domain: 'site.example',
    profileName: 'profile',
    loginUrl: null,
    postLoginUrl: null,
    allowedDomains: [],
    browser: null,
    credentialName: null,
    ...settings,
  };
}
