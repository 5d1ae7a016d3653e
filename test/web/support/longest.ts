/** A board on which everything has the longest name that the server allows, of its widest letters and without a space. */
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, newCode, post } from '../../support/cast.ts';
import { put } from '../../support/files.ts';
import type { TestServer } from '../../support/server.ts';

export interface Longest {
  dana: Api;
  board: string;
  agent: string;
  file: string;
  task: string;
  approval: string;
  pairing: string;
}

export async function tellLongest(server: TestServer): Promise<Longest> {
  const dana = await server.person('dana', 'admin');
  const handle = 'w'.repeat(40);
  const other = await server.person(handle);
  await other.ok('updateMe', { body: { display_name: 'W'.repeat(80) } });
  const { name: board, id } = await newBoard(dana, { name: 'm'.repeat(40), title: 'W'.repeat(80) });
  const params = { board };
  await dana.ok('addBoardPerson', { params, body: { handle } });
  const own = await newAgent(dana, board, { name: 'm'.repeat(40), harness: 'W'.repeat(40) });
  const agent = await newAgent(other, board, { name: 'mw'.repeat(20) });
  await own.ok('setPresence', { body: { presence: 'no_session' } });
  const { ref: task } = await own.ok('createTask', { params, body: { title: 'W'.repeat(120), start: true } });
  const told = { about: 'W'.repeat(600), stands: 'W'.repeat(600) };
  await own.ok('updateTask', { params: { board, task }, body: told });
  const file = `${'W'.repeat(197)}.ts`;
  const { id: fileId } = await put(own, board, file, `${'W'.repeat(300)}\n`);
  await put(own, board, file, `${'M'.repeat(300)}\n`, { base: 1 });
  await put(dana, board, 'brief.md', `# ${'W'.repeat(80)}\n\n${'W'.repeat(200)}\n`, { brief: true });
  const about = { about: [task], files: [{ file: fileId }] };
  const { id: root } = await post(agent, board, `${'W'.repeat(200)}\n\n\`\`\`\n${'W'.repeat(200)}\n\`\`\``, about);
  await post(other, board, '@dana', { reply_to: root });
  const options = ['W'.repeat(80), 'M'.repeat(80), '3', '4'];
  const going_at = new Date(Date.now() + 22 * 60_000).toISOString();
  const ask = { options, going_with: options[0], going_at };
  // The longest that is answered wherever it is shown, and one that only its message shows whole.
  for (const length of [299, 1_500])
    await post(agent, board, `${'W'.repeat(length)}?`, { to: ['@dana'], about: [task], ask });
  await newCode(dana, board, { guest: 'g'.repeat(40) });
  const { approval } = await own.ok('requestAdminAction', {
    body: { kind: 'invite_people', invite: { ttl_seconds: 3_600, boards: [id], suggested_handle: 'r'.repeat(40) } },
  });
  const { id: pairing } = await other.ok('createPairingRequest', {
    body: {
      board_id: id,
      recipient_id: dana.personId,
      initiating_agent_id: agent.memberId,
      work: 'W'.repeat(1_000),
    } as never,
  });
  return { dana, board, agent: own.name, file, task, approval: approval.id, pairing };
}
