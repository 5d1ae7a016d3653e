/** The first start of the built server on this machine, again and again: native code that is set up late fails only now and then. */
import { expect } from 'chai';
import { Home } from './support/home.ts';

const STARTS = 20;
/** Each waits for its server most of the time. */
const AT_ONCE = 4;

describe('a first start', () => {
  it(`makes a database that can be used, ${STARTS} times of ${STARTS}`, async () => {
    const start = async () => {
      const home = new Home({ bare: true, shared: true });
      const created = await home.run(['board', 'create', 'general', '--quiet']);
      expect(created).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      const stopped = await home.run(['server', 'stop', '--quiet']);
      expect(stopped).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      home.discard();
    };
    for (let n = 0; n < STARTS; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, start));
  });
});
