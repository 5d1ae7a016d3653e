/** What each command's examples need to be there, and what their words stand for in a world that is set for them. */
import { spawnSync } from 'node:child_process';
import { codex } from '../../../src/harness/profiles/codex.ts';
import { newCode, newDelegation, post } from '../../support/cast.ts';
import { put } from '../../support/files.ts';
import type { Stage } from './stage.ts';

export interface Play {
  /** Words of an example, and what they stand for here. */
  words?: Record<string, string>;
  env?: Record<string, string>;
  /** What somebody else does once this was printed. */
  after?: string;
  meanwhile?(printed: string): Promise<unknown>;
  /** It stays until it is interrupted, once this was printed. */
  until?: string;
  /** The error it ends with in such a world, which is what it is for. */
  refused?: string;
}

const DAY = 86_400_000;
/** Its requests are told, so that others know how far it is. */
const talking = { SERVICE_DEBUG: '1' };

type Prepare = (stage: Stage, example: string) => Promise<Play>;

const on = (board: string) => ({ params: { board } });

/** Examples that use up what they are about: each has a world of its own. */
export const spoiling = new Set([
  ...['agent:leave', 'agent:remove', 'board:archive', 'board:delete', 'board:leave', 'board:remove', 'board:restore'],
  ...['connect', 'join', 'key:revoke', 'login', 'logout', 'machine:collect', 'machine:request', 'pair'],
  ...['people:remove', 'people:rename', 'people:role', 'board:add', 'board:owners', 'brief:put', 'approval:allow'],
  ...['agent:create', 'allowance:on', 'allowance:set', 'board:policy', 'file:rename', 'board:roles'],
  ...['pairing:request', 'pairing:cancel', 'pairing:choose', 'pairing:decline', 'pairing:show', 'setup'],
]);

const approval: Prepare = async (stage) => {
  const { id } = await stage.dana.ok('getBoard', on('checkout'));
  const person_id = stage.maya.personId!;
  const asked = await stage.agents.claude.ok('requestAdminAction', {
    body: { kind: 'add_people', board_id: id, person_id },
  });
  return { words: { apr_01K5A0000000000000000000A1: asked.approval.id } };
};

const invitedByAgent: Prepare = async (stage) => {
  const body = { kind: 'invite_people' as const, invite: {} };
  const { id } = (await stage.agents.claude.ok('requestAdminAction', { body })).approval;
  await stage.dana.ok('allowApproval', { params: { approval: id }, body: {} });
  return { words: { apr_01K5A0000000000000000000A1: id } };
};

const machineCode: Prepare = async ({ server, dana }) => {
  const { name: handle } = await dana.ok('getMe');
  const { code } = await server.nobody.ok('createMachineRequest', { body: { handle, label: 'box' } });
  return { words: { '4KQ-7ZX': code } };
};

/** A machine on which nobody is signed in; whoever is at home elsewhere approves what it asks for. */
const newMachine: Prepare = async (stage) => {
  stage.sign('out');
  const { name } = await stage.dana.ok('getMe');
  return {
    words: { '--handle maya': `--handle ${name}` },
    after: 'machine approve',
    meanwhile: async (printed) => {
      const code = /machine approve (\S+)/.exec(printed)?.[1] ?? '';
      await stage.dana.ok('approveMachineRequest', { body: { code } });
    },
  };
};

const invite: Prepare = async ({ dana }) => {
  const { id } = await dana.ok('createInvite', { body: {} });
  return { words: { inv_01K5A0000000000000000000V1: id, '--handle maya': '--handle mary' } };
};

const lifecycle =
  (archived: boolean): Prepare =>
  async ({ dana }) => {
    const { id } = await dana.ok('getBoard', on('payments'));
    if (archived) await dana.ok('archiveBoard', on('payments'));
    return { words: { brd_01K5A0000000000000000000B1: id } };
  };

const message: Prepare = async ({ dana }) => {
  const { seq, id } = await post(dana, 'general', 'Look at this', { to: ['@codex'] });
  await post(dana, 'general', 'And this', { reply_to: id });
  return { words: { ' 6': ` ${seq}`, msg_01K5A0000000000000000000P1: id } };
};

const ask: Prepare = async ({ dana, agents }, example) => {
  const byPerson = example.startsWith('service withdraw') && !example.includes('--as');
  const options = { ask: { options: ['A minute', 'Ten'] } };
  const { seq } = byPerson
    ? await post(dana, 'general', 'Which?', { to: ['@maya'], ...options })
    : await post(agents.codex, 'general', 'Which?', options);
  return { words: { ' 88': ` ${seq}` } };
};

/** A task, and an agent that is on it. */
const task =
  (owner?: 'codex'): Prepare =>
  async ({ dana, agents }, example) => {
    const { ref } = await dana.ok('createTask', { ...on('general'), body: { title: 'Cap the backoff' } });
    const params = { board: 'general', task: ref };
    if (owner) await agents[owner].ok('startTask', { params });
    const last = example.includes('--base 2') ? ['a', 'b'] : [];
    for (const stands of last) await dana.ok('updateTask', { params, body: { stands } });
    return { words: { 'CHK-17': ref, ' 17': ` ${ref}` } };
  };

const waiting: Prepare = async ({ dana }, example) => {
  await post(dana, 'general', 'For you', { to: ['@codex'] });
  return example.includes('--follow') ? { until: 'For you' } : {};
};

/** What was got before, so that a put follows it. */
const got: Prepare = async ({ home }) => {
  await home.run(['file', 'get', 'notes/api.md', 'api.md', '--force']);
  await home.shell('echo more >>api.md');
  return { words: { 'notes.md --name notes/api.md': 'notes.md --name notes/new.md' } };
};

const brief: Prepare = async ({ home }, example) => {
  const there = 'rm -f brief.md; service brief get || { echo "# Brief" >brief.md && service brief put brief.md; }';
  await home.shell(example.includes('payments') ? 'service brief put brief.html --board payments' : there);
  return { words: { 'brief get': example.includes('|') ? 'brief get' : 'brief get --force' } };
};

const browserSession: Prepare = async ({ dana, server }) => {
  await dana.call('createKey', { body: { name: 'laptop' } });
  const { code } = await dana.ok('createLoginCode');
  const headers = { origin: server.url, 'sec-fetch-site': 'same-origin' };
  const { id } = await server.nobody.ok('createBrowserSession', { body: { code }, headers });
  return { words: { ses_01K5A0000000000000000000P1: id } };
};

/** Work that an agent of the person proposes to one of theirs, or to somebody else's. */
const pairing: Prepare = async ({ dana, maya }, example) => {
  const { id: board_id } = await dana.ok('getBoard', on('payments'));
  const { members } = await dana.ok('listMembers', on('payments'));
  const agent = (name: string) => members.find((member) => member.name === name)!.id;
  const recipient_id = example.includes('cancel') ? maya.personId! : (await dana.ok('getMe')).id;
  const body = { board_id, recipient_id, initiating_agent_id: agent('claude'), work: 'Review the API' };
  const { id, generation } = await dana.ok('createPairingRequest', { body });
  const chosen = { params: { pairing: id }, body: { agent_id: agent('codex'), generation } };
  if (example.includes('--replace')) await dana.ok('choosePairingAgent', chosen);
  return { words: { prq_01K5A0000000000000000000P1: id, 'claude --replace': 'writer --replace' } };
};

/** In no session of an agent it is refused, which its own tests go beyond. */
const sessionOnly =
  (refused: string): Prepare =>
  async () => ({ refused });

/** By command; a command that is not here needs nothing but the world. */
export const plays: Record<string, Prepare> = {
  'agent:remove': async ({ dana, agents }, example) => {
    const { id } = await dana.ok('getBoard', on('general'));
    return example.includes('mem_')
      ? { words: { mem_01K5A0000000000000000000M1: agents.codex.memberId, brd_01K5A0000000000000000000B1: id } }
      : {};
  },
  'agent:resume': async () => ({
    words: { 'codex@payments': 'codex@general' },
    refused: 'agent_session_required',
  }),
  'agent:create': async () => ({ words: { 'create codex --board general': 'create codex --board checkout' } }),
  answer: ask,
  'approval:allow': approval,
  'approval:collect': invitedByAgent,
  'approval:decline': approval,
  'approval:show': approval,
  ask: async ({ dana, maya }, example) =>
    example.includes('--wait')
      ? {
          env: talking,
          after: '/messages 201',
          meanwhile: async () => {
            const { asks } = await dana.ok('listAsks', { query: { from_me: true } });
            const reply_to = asks.find(({ body }) => example.includes(body))!.id;
            await post(maya, 'general', 'Yes', { reply_to, answer: { option: 1 } });
          },
        }
      : {},
  'board:add': async ({ dana }) => {
    await dana.ok('removeBoardPerson', { params: { board: 'payments', handle: 'maya' } });
    return { words: { 'add me --board general': 'add me --board open-house' } };
  },
  'board:archive': lifecycle(false),
  'board:create': async (_, example) => ({
    words: { payments: example.includes('--private') ? 'rewrite' : 'salaries', 'create review': 'create reviews' },
  }),
  'board:delete': lifecycle(true),
  'board:message': message,
  'board:owners': async ({ dana }, example) => {
    const params = { board: 'payments', handle: 'sam' };
    if (example.includes('--add')) await dana.ok('unmakeBoardOwner', { params });
    return {};
  },
  // Nothing is remembered there yet: only the first event is one to start at.
  'audit:verify': async () => ({ words: { '1201': '1' } }),
  'audit:export': async () => ({ words: { 'general.ndjson': `general-${Math.random()}.ndjson` } }),
  'board:post': ask,
  'board:prefix': async () => ({ words: { 'prefix CHK': 'prefix CO' } }),
  'board:react': message,
  'board:read': async (_, example) => (example.includes('--follow') ? { until: '#' } : {}),
  'board:receipts': message,
  'board:restore': lifecycle(true),
  'board:roles': async ({ dana }) => {
    const roles = { member: { can: ['post'] as 'post'[] }, reviewer: { can: ['post'] as 'post'[] } };
    await dana.ok('updateBoard', { ...on('general'), body: { roles } });
    return {};
  },
  'board:thread': message,
  'board:watch': async ({ agents }) => ({
    env: talking,
    after: '/v1/stream',
    meanwhile: () => post(agents.codex, 'general', 'live'),
    until: 'live',
  }),
  'brief:edit': brief,
  'brief:get': brief,
  'brief:put': brief,
  'brief:show': brief,
  'code:revoke': async ({ dana }) => {
    const { id } = await newCode(dana, 'review', { role: 'reviewer' });
    return { words: { jc_01K5A0000000000000000000J1: id } };
  },
  connect: async (stage, example) => {
    const { invite: link } = await stage.dana.ok('createInvite', { body: {} });
    stage.write('invite.txt', `${link}\n`);
    if (example.includes('https://')) return newMachine(stage, example);
    stage.sign('out');
    if (example.includes('--resume')) return { refused: 'No connect waits for its answer here' };
    const whole = 'connect - --handle mary --yes < invite.txt';
    return {
      words: {
        'connect - --handle maya --yes < invite.txt': whole,
        'service connect -': example.includes('maya') ? 'service connect -' : `service ${whole}`,
      },
    };
  },
  'file:diff': got,
  'file:get': async (_, example) => ({
    words: { 'file get': example.endsWith('head') ? 'file get' : 'file get --force' },
  }),
  'file:put': got,
  'file:remove': async ({ dana }) => {
    await put(dana, 'general', 'notes/old.md', `${Math.random()}`).catch(() => undefined);
    return {};
  },
  'file:rename': async () => ({ words: { 'notes/api.md docs/api.md': 'plan.md docs/plan.md' } }),
  'file:unapprove': async ({ dana }) => {
    await dana.ok('approveFile', { params: { board: 'general', file: 'plan.md' }, body: { version: 3 } });
    return {};
  },
  'harness:test': async (stage) => {
    stage.write('my-profile.json', JSON.stringify(codex));
    return {};
  },
  inbox: waiting,
  'inbox:ack': async () => ({ words: { ' 12': ' 30' } }),
  'inbox:notices': async ({ dana, agents }) => {
    const body = { kind: 'invite_people' as const, invite: {} };
    const { id } = (await agents.codex.ok('requestAdminAction', { body })).approval;
    await dana.ok('declineApproval', { params: { approval: id } });
    return {};
  },
  'inbox:wait': waiting,
  'invite:preview': async (stage, example) => {
    const { invite: link } = await stage.dana.ok('createInvite', { body: {} });
    stage.write('invite.txt', `${link}\n`);
    return { words: { 'preview -': example.includes('<') ? 'preview -' : 'preview - < invite.txt' } };
  },
  'invite:revoke': invite,
  'invite:show': invite,
  'invite:update': invite,
  join: async (stage) => {
    const { code, join_line: line } = await newCode(stage.dana, 'review', { role: 'reviewer' });
    stage.write('invitation.txt', `Hello,\n${line}\n`);
    return {
      words: {
        'Join service board review on localhost as reviewer with code 7Q4-K2M': line ?? '',
        '7Q4-K2M': code,
        '--name codex': '--name codex-2 --board review',
        '--board payments': '--board open-house',
      },
    };
  },
  'key:delegations': async ({ dana }) => {
    await dana.call('createKey', { body: { name: 'laptop' } });
    await newDelegation(dana);
    return {};
  },
  'key:end-delegation': async ({ dana }) => {
    const { id } = await newDelegation(dana);
    return { words: { dlg_01K5A0000000000000000000D1: id } };
  },
  'key:end-session': browserSession,
  'key:revoke': async ({ dana }) => {
    const { id } = await dana.ok('createKey', { body: { name: 'ci' } });
    return { words: { key_01K5A0000000000000000000K1: id } };
  },
  'key:sessions': browserSession,
  // Nothing is staged there, and nobody is on the other files.
  who: async ({ home }, example) => {
    if (example.includes('--staged')) spawnSync('git', ['init', '-q'], { cwd: home.work });
    return {};
  },
  'line:clear': task('codex'),
  'line:paused': async (_, example) => {
    const tomorrow = new Date(Date.now() + DAY).toISOString();
    return { words: { '2026-03-02T09:00:00Z': `${tomorrow}${example.includes('--as') ? '' : ' --as codex'}` } };
  },
  login: async ({ server }, example) => ({
    words: {
      '--move-to keychain': '--move-to file',
      '--store file': '--store file < key.txt',
      ...(example === 'service login local' ? { 'login local': `login ${server.url} < key.txt` } : {}),
    },
  }),
  logout: async ({ server }) => ({ words: { 'https://gone.example.com': server.url } }),
  'machine:approve': machineCode,
  'machine:collect': async (stage) => {
    stage.sign('out');
    const { name } = await stage.dana.ok('getMe');
    const request = ['machine', 'request', stage.server.url, '--handle', name, '--detach'];
    const { code } = await stage.home.json(request);
    await stage.dana.ok('approveMachineRequest', { body: { code } });
    return {};
  },
  'machine:refuse': machineCode,
  'machine:request': newMachine,
  'machine:show': machineCode,
  pair: async ({ home }) => {
    await home.shell('rm -f .service');
    return { words: { 'name claude': 'name claudia' } };
  },
  'pairing:accept': sessionOnly('agent_session_required'),
  'pairing:cancel': pairing,
  'pairing:choose': pairing,
  'pairing:decline': pairing,
  'pairing:request': async (stage) => {
    stage.write('work.md', 'Review the API\n');
    return {};
  },
  'pairing:select': sessionOnly('agent_session_required'),
  'pairing:show': pairing,
  'people:rename': async () => ({ words: { 'rename me maya': 'rename me dana-b' } }),
  'people:role': async ({ dana }, example) => {
    if (example.includes('me member'))
      await dana.ok('setPersonRole', { params: { handle: 'maya' }, body: { server_role: 'admin' } });
    return {};
  },
  setup: async (stage, example) => {
    if (example.includes('prq_')) return pairing(stage, example);
    const { invite: link } = await stage.dana.ok('createInvite', { body: {} });
    stage.write('invite.txt', `${link}\n`);
    stage.sign('out');
    return { words: { '--handle maya': '--handle mary' } };
  },
  'task:done': task('codex'),
  'task:drop': task('codex'),
  'task:history': task(),
  'task:join': task('codex'),
  'task:note': task('codex'),
  'task:start': task(),
  'task:update': task(),
  withdraw: ask,
  'thread:continue': message,
  'thread:stop': message,
};
