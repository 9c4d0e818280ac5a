import { describe, expect, it } from 'vitest';
import type { BrowserService } from '../../browser-client/service.ts';
import { failOnProxyError } from '../../activities/login/session/network-errors.ts';
import { sessionBody } from '../../activities/login/session/open-session.ts';
import type { LoginTarget } from '../../contract/activities.ts';
import type { BrowserProxyConfig } from '../../contract/proxies.ts';
import { loginTarget } from './login-fixtures.ts';

const target = (proxy?: BrowserProxyConfig): LoginTarget =>
  loginTarget(proxy === undefined ? {} : { browser: { proxy } });

describe('the proxy of a login', () => {
  it.each([
    [undefined, {}],
    [{ mode: 'default' }, {}],
    [{ mode: 'direct' }, { proxy: { mode: 'direct' } }],
    [{ id: 'prx_1' }, { proxy_id: 'prx_1' }],
    [{ name: 'office' }, { proxy: { name: 'office' } }],
  ] as const)('is asked for of the session: %j', (proxy, expected) => {
    const { proxy: asked, proxy_id: askedId } = sessionBody(target(proxy), 'flow-1', 60);
    expect({ ...(asked && { proxy: asked }), ...(askedId && { proxy_id: askedId }) }).toEqual(expected);
  });

  const blamed = (answer: object, kind: 'unavailable' | 'form', proxy?: BrowserProxyConfig): Promise<string> => {
    const service: BrowserService = {
      call: async ({ schema }) =>
        (schema === null ? null : schema.parse({ session_id: 's', cdp_ws_url: 'x', ...answer })) as never,
      exchange: () => Promise.reject(new Error('not asked for')),
      open: () => Promise.reject(new Error('not asked for')),
      close: () => Promise.resolve(),
    };
    return failOnProxyError({ service }, target(proxy), 's', { kind }).then(
      () => 'nothing',
      (error: unknown) => String(Reflect.get(Object(error), 'type')),
    );
  };

  it('is reported for pages that it made unavailable and for nothing else', async () => {
    const office = { id: 'prx_1' };
    const fault = (last: string): object => ({ proxy: { id: 'prx_1', last_fault: last } });
    expect(await blamed(fault('credentials_refused'), 'unavailable', office)).toBe('proxy_credentials_refused');
    expect(await blamed(fault('unreachable'), 'unavailable', office)).toBe('proxy_unreachable');
    expect(await blamed(fault('address_refused'), 'unavailable', office)).toBe('proxy_address_refused');
    expect(await blamed(fault('unreachable'), 'form', office)).toBe('nothing');
    expect(await blamed(fault('unreachable'), 'unavailable')).toBe('nothing');
    expect(await blamed(fault('target_unreached'), 'unavailable', office)).toBe('nothing');
    // Peers that know nothing of faults, or have words of their own.
    for (const answer of [{}, { proxy: null }, { proxy: 'x' }, { proxy: {} }, fault('melted')]) {
      expect(await blamed(answer, 'unavailable', office)).toBe('nothing');
    }
  });
});
