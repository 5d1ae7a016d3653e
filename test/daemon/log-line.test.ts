/** One line of the daemon's log: whatever a call site passes, only ids, numbers and words of ours stand in it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type LogField, type LogFields, logFields, openLog } from '../../src/daemon/log.ts';

const CANARY = 'kanarienvogel';

describe('a line of the log', () => {
  const canaries = [
    `${CANARY} a body of several words`,
    `/home/${CANARY}/.claude/projects/x.jsonl`,
    `abh_${'A'.repeat(43)}`,
    `https://${CANARY}@team.example.com/?key=${CANARY}`,
    `<service-message>${CANARY}</service-message>`,
    `${CANARY}\n${CANARY}`,
    `"${CANARY}"`,
  ];
  const folder = mkdtempSync(join(tmpdir(), 'board-log-'));
  const path = join(folder, 'daemon.log');
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => existsSync(path) && rmSync(path));

  for (const field of logFields)
    it(`takes into ${field} no text, path or secret from any caller`, () => {
      const log = openLog(path);
      for (const canary of canaries) {
        log.write('bound', { [field]: canary } as LogFields);
        log.write('bound', { [field]: [canary] } as LogFields);
      }
      const all = readFileSync(path, 'utf8');
      expect(all.trim().split('\n')).to.have.length(2 * canaries.length);
      expect(all).to.not.include(CANARY).and.not.include('AAAA');
    });

  it('keeps no field that it does not know, and each that it does', () => {
    const fields: Record<LogField, unknown> = {
      handoff: `hnd_${'0a'.repeat(16)}`,
      session: 'claude-code:4f1c-2',
      from: 'codex:019a.b_c',
      seats: ['mem_01K5A0000000000000000000M1'],
      seqs: [1, 2],
      class: 'owner_only',
      path: 'turn_end',
      bytes: 12,
      ms: 3,
      pid: 4,
      version: '0.1.0-rc.1+b5',
      from_version: '0.0.9',
      restart: false,
      source: 'startup',
      reason: 'exit 3',
      code: 'pause_late',
      at: ['daemon.cjs:812:14', 'readablestream:1190:13'],
      mode: 'focused',
      revision: 0,
      problem: 'board_gone',
      origin: 'https://team.example.com:8443',
      server_id: 'srv_01K5A0000000000000000000S1',
      feed: 'stream',
      pairing: 'prq_01K5A0000000000000000000Q1',
      side: 'initiator',
      direction: 'initiator_to_recipient',
      n: 1,
      what: 'presence',
      op: 'boundary',
      notices: 2,
      put_aside: true,
    };
    openLog(path).write('bound', { ...fields, body: `${CANARY} x` } as LogFields);
    const { t, level, ev, ...kept } = JSON.parse(readFileSync(path, 'utf8'));
    expect(kept).to.deep.equal(fields);
    expect([level, ev, typeof t]).to.deep.equal(['info', 'bound', 'string']);
  });
});
