/** What streams and waits hear of an end, in one server process and from another one. */
import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

forEachDatabase('an end', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null = null;
  let pam: Api;
  before(async () => {
    server = await startTestServer(engine);
    if (engine === 'postgres') twin = await startTwin(server);
    pam = await server.person('pam');
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  /** Where those who wait are connected: here, or to the other process. */
  const processes: [string, (api: Api) => Api][] = [
    ['', (api) => api],
    ...(engine === 'postgres'
      ? ([[' by another server process', (api) => new Api(twin?.url ?? '', api.token, api.personId)]] as [
          string,
          (api: Api) => Api,
        ][])
      : []),
  ];

  for (const [where, at] of processes) {
    /** Starts waits that all sleep when this answers. */
    async function asleep<T>(start: () => Promise<T>[]): Promise<Promise<T>[]> {
      const before = server.clock.waiting(600_000);
      const waits = start();
      for (const wait of waits) wait.catch(() => {});
      await until(() => server.clock.waiting(600_000) === before + waits.length, 'all waits sleep');
      return waits;
    }
    const ready = (stream: TestStream) => stream.frame((frame) => frame.event === 'ready');
    const inbox = (api: Api) => at(api).call('readInbox', { query: { wait: 600 } });

    it(`of a seat${where} ends its waits and streams within a second, and nobody else's`, async () => {
      const { name: board } = await newBoard(server.dana);
      const [agent, other] = [await newAgent(server.dana, board), await newAgent(server.dana, board)];
      const stream = await TestStream.open(at(agent), { board });
      await ready(stream);
      const [first, second] = await asleep(() => [inbox(agent), inbox(other)]);
      const release = server.clock.holdBack(1_000);
      await agent.ok('leaveSeat');
      expect((await first)?.code).to.equal('agent_removed');
      const end = await stream.frame((frame) => frame.event === 'end');
      expect(end.data).to.deep.equal({ reason: 'credential_ended' });
      release();
      await post(server.dana, board, 'still awake');
      expect((await second)?.body.messages).to.have.length(1);
    });

    it(`of a membership${where} ends the person's and their agents' waits and streams on that board only`, async () => {
      const [left, kept] = [await newBoard(server.dana, { visibility: 'private' }), await newBoard(server.dana)];
      for (const board of [left, kept]) await putOnBoard(server, board.name, pam);
      const agent = await newAgent(pam, left.name);
      const [gone, stays] = [await post(server.dana, left.name, 'root'), await post(server.dana, kept.name, 'root')];
      await agent.ok('ackInbox', { body: { up_to: gone.seq } });
      const hints = await TestStream.open(at(pam));
      const boards = [
        await TestStream.open(at(pam), { board: left.name }),
        await TestStream.open(at(pam), { board: kept.name }),
      ];
      for (const stream of [hints, ...boards]) await ready(stream);
      const replies = (message: string) =>
        at(pam).call('listReplies', { params: { message }, query: { wait: 600 } }) as Promise<{
          code?: string | undefined;
        }>;
      const [inboxEnds, repliesEnd, stillWaits] = await asleep<{ code?: string | undefined }>(() => [
        inbox(agent),
        replies(gone.id),
        replies(stays.id),
      ]);
      const release = server.clock.holdBack(1_000);
      await server.dana.ok('removeBoardPerson', { params: { board: left.name, handle: 'pam' } });
      expect((await inboxEnds)?.code).to.equal('agent_removed');
      expect((await repliesEnd)?.code).to.equal('message_not_found');
      const end = await boards[0]?.frame((frame) => frame.event === 'end');
      expect(end?.data).to.deep.equal({ reason: 'board_unavailable' });
      const lost = await hints.frame((frame) => frame.event === 'board_unavailable');
      expect(lost.data).to.deep.equal({ board_id: left.id });
      release();

      await post(server.dana, kept.name, 'an answer', { reply_to: stays.id, to: ['all'] });
      expect((await stillWaits)?.code).to.equal(undefined);
      await hints.frame(
        (frame) => frame.event === 'head' && frame.data.board === kept.name && frame.data.seq > stays.seq,
      );
      expect(boards[1]?.ended).to.equal(false);
      await server.dana.ok('addBoardPerson', { params: { board: left.name }, body: { handle: 'pam' } });
      await hints.until(() => hints.named('head').filter((frame) => frame.data.board === left.name).length > 1);
      for (const stream of [hints, ...boards]) stream.close();
    });

    it(`of an agent${where} is told to its person's stream with the agent's id, and moves the head for all`, async () => {
      const { name: board, id } = await newBoard(server.dana);
      await putOnBoard(server, board, pam);
      const agent = await newAgent(pam, board);
      const [own, other] = [await TestStream.open(at(pam)), await TestStream.open(at(server.dana))];
      for (const stream of [own, other]) await ready(stream);
      await server.dana.ok('removeMember', { params: { board, member: agent.memberId } });
      const lost = await own.frame((frame) => frame.event === 'board_unavailable');
      expect(lost.data).to.deep.equal({ board_id: id, member_id: agent.memberId });
      const { head_seq } = await pam.ok('getBoard', { params: { board } });
      for (const stream of [own, other]) {
        await stream.frame(
          (frame) => frame.event === 'head' && frame.data.board === board && frame.data.seq === head_seq,
        );
        stream.close();
      }
      expect(other.named('board_unavailable')).to.deep.equal([]);
    });
  }
});
