import { describe, expect, it } from 'vitest';
import { checkChromePolicy, mergePolicies } from '../../browser/chromium/policy.ts';
import { BLOCKED_URLS } from '../../browser/chromium/user-data.ts';

describe('the policies of a session', () => {
  it.each([
    { BookmarkBarEnabled: true, DefaultJavaScriptSetting: 2 },
    { URLBlocklist: ['example.com/private'], URLAllowlist: ['https://example.com/private/ok'] },
    { ManagedBookmarks: [{ toplevel_name: 'Work' }, { url: 'https://example.com', name: 'Site' }] },
  ])('accept policies that callers may set: %j', (policy) => {
    expect(() => {
      checkChromePolicy(policy);
    }).not.toThrow();
  });

  it.each([
    'ExtensionInstallForcelist',
    'BlockExternalExtensions',
    'IsolatedWebAppInstallForceList',
    'ProxySettings',
    'ProxyMode',
    'QuicAllowed',
    'DnsOverHttpsMode',
    'WebRtcIPHandling',
    'RemoteDebuggingAllowed',
    'DeveloperToolsAvailability',
    'DownloadDirectory',
    'DefaultDownloadDirectory',
    'UserDataDir',
    'DiskCacheDir',
    'GSSAPILibraryName',
    'AlternativeBrowserPath',
    'BrowserSwitcherEnabled',
    'AutoLaunchProtocolsFromOrigins',
    'NetworkServiceSandboxEnabled',
    'CloudManagementEnrollmentToken',
    'DefaultWebUsbGuardSetting',
    'EnableMediaRouter',
    'not a policy',
    '__proto__name',
  ])('reject %s by name', (name) => {
    expect(() => {
      checkChromePolicy({ [name]: 1 });
    }).toThrow(expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(name) as string }));
  });

  it('never unblock URLs that no session may open', () => {
    for (const pattern of ['*', 'file://*', 'chrome://*', 'example.com', 'javascript://*']) {
      expect(() => {
        checkChromePolicy({ URLAllowlist: [pattern] });
      }).toThrow('chrome_policy.URLAllowlist');
    }
    expect(() => {
      checkChromePolicy({ URLBlocklist: 'all' });
    }).toThrow('chrome_policy.URLBlocklist');
    const merged = mergePolicies(
      { URLBlocklist: ['a.example'], HomepageLocation: 'https://a' },
      { HomepageLocation: 'https://b' },
    );
    expect(merged).toEqual({ URLBlocklist: [...BLOCKED_URLS, 'a.example'], HomepageLocation: 'https://b' });
  });

  it('are limited in size', () => {
    expect(() => {
      checkChromePolicy({ ManagedBookmarks: 'x'.repeat(70_000) });
    }).toThrow('chrome_policy');
  });
});
