/** From a post to a session: woken, taken, confirmed, acknowledged. */
import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Rig, took } from './support/rig.ts';

describe('the delivery of a message', () => {
  let server: TestServer;
  let rig: Rig;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    rig = await new Rig(server).start();
  });
  afterEach(() => rig.stop());

  it('wakes an idle session, is confirmed by what it does next, and acknowledged only then', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    const bundle = await hook.next();
    expect(bundle).to.include({ event: 'deliver', class: 'owner_only' });
    expect(bundle['bundle']).to.contain('hello').and.contain(bundle['handoff_id']);
    expect(rig.states()).to.deep.equal(['handed']);
    await took(hook, bundle);
    await hook.end();
    expect(await rig.cursor(seat)).to.be.below(seq);
    const echo = await session.hook('turn_start', { wake: true, handoff_id: bundle['handoff_id'] });
    expect(echo).to.not.have.any.keys('bundle', 'handoff_id');
    expect(rig.states()).to.deep.equal(['handed']);
    await session.hook('boundary');
    await rig.acked(seat, seq);
    await until(() => rig.states()[0] === 'done', 'the handoff is done');
    expect(rig.rows('SELECT * FROM received')).to.deep.equal([]);
  });
});
