import { expect } from 'chai';
import { isPrivate, network, plainAddress } from '../../src/server/text/address.ts';

describe('the network of an address', () => {
  it('is an IPv4 address itself, and the /64 of an IPv6 one', () => {
    for (const [address, expected] of [
      ['203.0.113.7', '203.0.113.7'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:0db8:0000:0000:ffff::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
      ['1:2:3:4::', '1:2:3:4::/64'],
      ['', ''],
    ] as const) {
      expect(network(address), address).to.equal(expected);
    }
  });

  it('is private where only a proxy or a neighbour can be', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.0.1',
      '::1',
      'fd00::1',
      'fe80::1%eth0',
    ]) {
      expect(isPrivate(address), address).to.equal(true);
    }
    for (const address of ['203.0.113.7', '172.32.0.1', '8.8.8.8', '2001:db8::1', '']) {
      expect(isPrivate(address), address).to.equal(false);
    }
  });
});

describe('an address in another spelling', () => {
  it('is unwrapped where it is an IPv4 address in IPv6 form, and left as it is elsewhere', () => {
    const cases: [string, string][] = [
      ['203.0.113.9', '203.0.113.9'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['::FFFF:203.0.113.9', '203.0.113.9'],
      ['::ffff:cb00:7109', '203.0.113.9'],
      ['::ffff:a:1', '0.10.0.1'],
      ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
      ['0000:0000:0000:0000:0000:ffff:cb00:7109', '203.0.113.9'],
      ['fe80::1%eth0', 'fe80::1'],
      ['::1', '::1'],
      ['::ffff:0:203.0.113.9', '::ffff:0:203.0.113.9'],
      ['2001:db8::ffff:203.0.113.9', '2001:db8::ffff:203.0.113.9'],
      ['64:ff9b::203.0.113.9', '64:ff9b::203.0.113.9'],
      ['1::ffff:1:2', '1::ffff:1:2'],
      ['ffff::1', 'ffff::1'],
      ['', ''],
      ['x', 'x'],
    ];
    for (const [address, expected] of cases) expect(plainAddress(address), address).to.equal(expected);
  });
});
