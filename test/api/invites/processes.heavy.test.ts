/** Invites on two servers that share one Postgres. */
import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import type { Api } from '../../support/api.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { connect, invite, secretOf } from './cast.ts';

forEachDatabase('an invite between two servers', (engine) => {
  if (engine === 'sqlite') return;
  let server: TestServer;
  let twin: RunningServer;
  let ana: Api;
  before(async () => {
    server = await startTestServer(engine);
    twin = await startTwin(server);
    ana = await server.person('ana', 'admin');
  });
  after(async () => {
    await twin.close();
    await server.stop();
  });

  const either = (n: number) => (n % 2 === 0 ? server : twin);

  it('has one winner of ten', async () => {
    for (let round = 0; round < 3; round++) {
      const board = await newBoard(ana);
      const secret = secretOf(await invite(ana, { boards: [board.id] }));
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_unused, n) =>
          connect(either(n), { invite: secret, handle: `race-${round}-${n}` }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ code }) => code === 'invite_invalid')).to.have.length(9);
    }
  });

  it('has one winner of a handle that several want', async () => {
    const secrets = await Promise.all(Array.from({ length: 6 }, async () => secretOf(await invite(ana))));
    const answers = await Promise.all(
      secrets.map((secret, n) => connect(either(n), { invite: secret, handle: 'wanted' })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409]);
  });
});
