/** What is asked for once more, as a new call, when it is so already. */
import { expect } from 'chai';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, newCode, newDelegation, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

/** What grows with every change that is written down. */
const RECORDS = ['events', 'server_audit', 'allowance_revisions', 'notices', 'handle_reservations'];

forEachDatabase('what is set to what it is already', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const written = async (): Promise<number[]> =>
    server.db.read(async (tx) => {
      const counts: number[] = [];
      for (const table of RECORDS) {
        const [row] = await tx.query<{ n: number | string }>((db) => db(table).count({ n: '*' }));
        counts.push(Number(row?.n));
      }
      return counts;
    });

  it('is written down once, and is answered with the same status again', async () => {
    const { dana } = server;
    const pam = await server.person('pam');
    const { name: board } = await newBoard(dana);
    const params = { board };
    await dana.ok('addBoardPerson', { params, body: { handle: 'pam' } });
    const agent = await newAgent(dana, board, { name: 'writer' });
    const [code, other] = [await newCode(dana, board), await newAgent(pam, board, { name: 'helper' })];
    const delegation = await newDelegation(dana);
    const key = await dana.ok('createKey', { body: { name: 'spare' } });
    const { id: invite } = await dana.ok('createInvite', { body: {} });
    const message = (await post(dana, board, 'begin')).id;
    await post(agent, board, 'go on', { reply_to: message });
    const { ref } = await dana.ok('createTask', { params, body: { title: 'first' } });
    const task = { board, task: ref };
    await put(dana, board, 'plan.md', 'one');
    const file = { board, file: 'plan.md' };
    const member = { board, member: 'writer' };
    const head = (await dana.ok('getBoard', { params })).head_seq;
    const calls: [Api, OperationName, Call][] = [
      [dana, 'updateMe', { body: { display_name: 'Dana' } }],
      [dana, 'setMidturnPolicy', { body: { policy: 'my-agents' } }],
      [dana, 'updateSettings', { body: { board_creation: 'admins' } }],
      [dana, 'setPersonRole', { params: { handle: 'pam' }, body: { server_role: 'admin' } }],
      [dana, 'renamePerson', { params: { handle: 'pam' }, body: { handle: 'pam' } }],
      [dana, 'revokeKey', { params: { key: key.id } }],
      [dana, 'endDelegation', { params: { delegation: delegation.id } }],
      [dana, 'updateInvite', { params: { invite }, body: { suggested_handle: 'lee' } }],
      [dana, 'revokeInvite', { params: { invite } }],
      [dana, 'updateBoard', { params, body: { title: 'T', charter: 'C', task_prefix: 'AGAIN' } }],
      [dana, 'updateBoard', { params, body: { policy: { nudges: 'off' }, agents_add_people: true } }],
      [dana, 'makeBoardOwner', { params, body: { handle: 'pam' } }],
      [dana, 'unmakeBoardOwner', { params: { board, handle: 'pam' } }],
      [dana, 'setDeliveryMode', { params: member, body: { mode: 'off' } }],
      [dana, 'setAgentBudget', { params: member, body: { wakes: 'off', cost: null } }],
      [dana, 'revokeJoinCode', { params: { board, code_id: code.id } }],
      [dana, 'addReaction', { params: { message, reaction: 'heart' } }],
      [dana, 'removeReaction', { params: { message, reaction: 'heart' } }],
      [dana, 'setThreadRun', { params: { message }, body: { action: 'stop' } }],
      [dana, 'setThreadRun', { params: { message }, body: { action: 'continue' } }],
      [dana, 'ackBoard', { params, body: { up_to: head } }],
      [agent, 'ackInbox', { body: { up_to: head } }],
      [dana, 'updateTask', { params: task, body: { title: 'second', about: 'words', stands: 'here' } }],
      [agent, 'startTask', { params: task }],
      [other, 'joinTask', { params: task }],
      [agent, 'setMyLine', { body: { kind: 'working', text: 'on it' } }],
      [agent, 'clearMyLine', {}],
      [dana, 'updateFile', { params: file, body: { maintained: true, about: [ref] } }],
      [dana, 'approveFile', { params: file, body: { version: 1 } }],
      [dana, 'unapproveFile', { params: file }],
      [dana, 'setAllowance', { body: { categories: ['add_people'] } }],
      [dana, 'clearAllowance', {}],
      [dana, 'setBoardVisibility', { params, body: { visibility: 'private' } }],
      [dana, 'archiveBoard', { params }],
      [dana, 'restoreBoard', { params }],
    ];
    const wrong: string[] = [];
    for (const [from, name, call] of calls) {
      const first = await from.call(name, call);
      const before = await written();
      const second = await from.call(name, call);
      const grown = (await written()).map((count, n) => count - (before[n] as number));
      const more = RECORDS.filter((_, n) => grown[n] !== 0).join();
      if (first.status >= 300 || second.status !== first.status || more !== '')
        wrong.push(
          `${name}: ${first.status} ${second.status} ${more} ${first.code ? first.text : ''} ${second.code ? second.text : ''}`,
        );
    }
    expect(wrong).to.deep.equal([]);
  });
});
