import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEgressPolicy, forbiddenRange, isListedHost, parseAllowedHosts } from '../../egress/policy.ts';

describe('forbiddenRange', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    'fec0::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '4000::1',
    'fe80::1%eth0',
    '0177.0.0.1',
    '2130706433',
    '0x7f000001',
    'localhost',
    '',
  ])('refuses %s', (address) => {
    expect(forbiddenRange(address)).not.toBeNull();
  });

  it.each(['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
    'lets %s pass',
    (address) => {
      expect(forbiddenRange(address)).toBeNull();
    },
  );

  it('refuses every IPv4 address embedded in IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        expect(forbiddenRange(`::ffff:${v4}`)).not.toBeNull();
        expect(forbiddenRange(`::${v4}`)).not.toBeNull();
        expect(forbiddenRange(`64:ff9b::${v4}`)).not.toBeNull();
      }),
    );
  });
});

describe('allowed hosts', () => {
  it('parses hosts with and without ports, addresses and unusual spellings', () => {
    expect(parseAllowedHosts(' LocalHost , app.internal:8080,127.1:9, [::1]:80, ::1 ,')).toEqual([
      { host: 'localhost', port: null },
      { host: 'app.internal', port: 8080 },
      { host: '127.0.0.1', port: 9 },
      { host: '::1', port: 80 },
      { host: '::1', port: null },
    ]);
  });

  it.each(['http://x', 'a:b', 'a:0', 'a:65536', 'user@host', 'a b', 'x/y'])('names the invalid entry %s', (entry) => {
    expect(() => parseAllowedHosts(entry)).toThrow(entry);
  });

  it('allows only a listed port', () => {
    const policy = createEgressPolicy('localhost:3000', [{ host: '127.0.0.1', port: null }]);
    expect(isListedHost(policy, 'LOCALHOST.', 3000)).toBe(true);
    expect(isListedHost(policy, 'localhost', 3001)).toBe(false);
    expect(isListedHost(policy, '127.0.0.1', 1)).toBe(true);
    expect(isListedHost(policy, 'evil-localhost', 3000)).toBe(false);
  });
});
