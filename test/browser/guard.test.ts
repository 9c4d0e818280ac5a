import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../browser/cdp/guard.ts';
import { createSessionTokens } from '../../browser/cdp/token.ts';

const judge = (method: string, params: Record<string, unknown> = {}) =>
  judgeCommand(
    { id: 1, method, params },
    { downloadFolder: '/private/Downloads', hasExtension: (id) => id === 'loaded', cancelsSignInPrompts: false },
  );

describe('judgeCommand', () => {
  it.each([
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    ' file:///etc/passwd',
    '\tfile:///etc/passwd',
    'fi\nle:///etc/passwd',
    'chrome://version',
    'view-source:https://example.com',
    'devtools://devtools/x',
    'chrome-untrusted://x',
    'chrome-extension://x/y',
    'filesystem:https://x/y',
    'ftp://x',
  ])('does not let clients open %j', (url) => {
    for (const method of [
      'Page.navigate',
      'Target.createTarget',
      'Network.loadNetworkResource',
      'Fetch.continueRequest',
    ]) {
      expect(judge(method, { url }).kind, method).toBe('refuse');
    }
  });

  it.each([
    'https://example.com/',
    'http://example.com/',
    'about:blank',
    '',
    'data:text/html,x',
    'blob:https://x/y',
    'javascript:1',
    'chrome-extension://loaded/page.html',
  ])('lets clients open %j', (url) => {
    expect(judge('Page.navigate', { url }).kind).toBe('forward');
  });

  it('refuses own proxies, host files and ways around the guard', () => {
    expect(judge('Target.createBrowserContext', { proxyServer: 'direct://' }).kind).toBe('refuse');
    expect(judge('Target.createBrowserContext', { proxyBypassList: '*' }).kind).toBe('refuse');
    expect(judge('Target.createBrowserContext', { disposeOnDetach: true }).kind).toBe('forward');
    expect(judge('DOM.setFileInputFiles', { files: ['/etc/passwd'] }).kind).toBe('refuse');
    expect(judge('DOM.setFileInputFiles', { files: [] }).kind).toBe('forward');
    expect(judge('Input.dispatchDragEvent', { data: { files: ['/etc/passwd'] } }).kind).toBe('refuse');
    for (const method of [
      'Target.exposeDevToolsProtocol',
      'Target.sendMessageToTarget',
      'Tethering.bind',
      'Extensions.loadUnpacked',
      'Browser.crash',
    ]) {
      expect(judge(method).kind, method).toBe('refuse');
    }
    expect(judge('Extensions.getExtensions')).toMatchObject({
      message: expect.stringContaining('POST /browsers/') as string,
    });
    expect(judge('Browser.close').kind).toBe('disconnect');
  });

  it('keeps downloads in the session’s folder', () => {
    expect(judge('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: '/etc' })).toEqual({
      kind: 'forward',
      command: {
        id: 1,
        method: 'Browser.setDownloadBehavior',
        params: { behavior: 'allow', downloadPath: '/private/Downloads' },
      },
    });
  });

  it('never repeats a parameter value in its message', () => {
    const verdict = judge('Page.navigate', { url: 'file:///home/s3cret' });
    expect(JSON.stringify(verdict)).not.toContain('s3cret');
  });
});

describe('session tokens', () => {
  it('are valid for one session, one purpose and one key', async () => {
    const tokens = createSessionTokens();
    const token = await tokens.sign('brw_1', 'cdp', 'prj_1');
    expect(await tokens.verify(token, 'brw_1', 'cdp')).toBe(true);
    expect(await tokens.verify(token, 'brw_2', 'cdp')).toBe(false);
    expect(await tokens.verify(token, 'brw_1', 'bidi')).toBe(false);
    expect(await tokens.verify(`${token}x`, 'brw_1', 'cdp')).toBe(false);
    expect(await tokens.verify('', 'brw_1', 'cdp')).toBe(false);
    expect(await createSessionTokens().verify(token, 'brw_1', 'cdp')).toBe(false);
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1] ?? ''}.`;
    expect(await tokens.verify(unsigned, 'brw_1', 'cdp')).toBe(false);
  });
});
