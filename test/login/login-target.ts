import type { LoginTarget } from '../../contract/activities.ts';

/** A login of a connection that has no settings of its own, but for what a test gives it. */
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
