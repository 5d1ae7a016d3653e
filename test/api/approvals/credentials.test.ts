/** Who may call what of this area, as the contract's own table says; and that whoever is handed over knows what to run. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { nextStep } from '../../../src/client/next-command.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCalls } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser, newDelegation } from '../../support/state.ts';
import { pairOn, propose, select } from '../pairing/cast.ts';

type Kind = 'key' | 'browser' | 'seat' | 'delegation' | 'proof';
const kinds: Kind[] = ['key', 'browser', 'seat', 'delegation', 'proof'];

const AGENTS = 'agent_token_required';
const PEOPLE = 'human_token_required';
const NO = 'forbidden';
const ok = null;

/** In the order of `kinds`; null: let through to what the call names. */
const table: Partial<Record<OperationName, (string | null)[]>> = {
  requestAdminAction: [AGENTS, AGENTS, ok, NO, NO],
  listApprovals: [ok, ok, ok, NO, NO],
  getApproval: [ok, ok, ok, NO, NO],
  allowApproval: [ok, ok, PEOPLE, PEOPLE, NO],
  declineApproval: [ok, ok, PEOPLE, NO, NO],
  getAllowance: [ok, ok, PEOPLE, NO, NO],
  setAllowance: [ok, ok, PEOPLE, NO, NO],
  clearAllowance: [ok, ok, PEOPLE, NO, NO],
  listAllowanceRevisions: [ok, ok, PEOPLE, NO, NO],
  collectApproval: [AGENTS, AGENTS, ok, NO, NO],
  listPairingRequests: [ok, ok, ok, NO, NO],
  getPairingRequest: [ok, ok, ok, NO, ok],
  createPairingRequest: [ok, ok, ok, NO, NO],
  choosePairingAgent: [ok, ok, PEOPLE, NO, NO],
  declinePairing: [ok, ok, PEOPLE, NO, NO],
  cancelPairing: [ok, ok, ok, NO, NO],
  selectPairingEndpoint: [ok, PEOPLE, PEOPLE, NO, NO],
  acceptPairing: [NO, NO, NO, NO, ok],
  verifyPairing: [NO, NO, NO, NO, ok],
  listInviteNotices: [ok, ok, PEOPLE, NO, NO],
  getOnboardingInbox: [ok, ok, PEOPLE, NO, NO],
  getOnboardingReceipt: [ok, PEOPLE, PEOPLE, NO, NO],
  listNotices: [AGENTS, AGENTS, ok, NO, NO],
  ackNotices: [AGENTS, AGENTS, ok, NO, NO],
};

/** Codes of callers that are not the right kind. */
const classCodes = [AGENTS, PEOPLE, NO];

forEachDatabase('callers of approvals and pairing', (engine) => {
  let server: TestServer;
  let callers: Record<Kind, Api>;
  const stage = { board: '', message: '' };
  before(async () => {
    server = await startTestServer(engine);
    const pair = await pairOn(server);
    const { proof } = await select(server, pair, await propose(pair), 'initiator');
    const { person, agent } = pair.initiator;
    const browser = await newBrowser(server, person);
    callers = { key: person, browser, seat: agent, delegation: await newDelegation(server, person), proof };
    stage.board = pair.board.name;
    stage.message = (await agent.ok('postMessage', { params: { board: stage.board }, body: { body: 'x' } })).id;
  });
  after(() => server.stop());

  for (const [name, expected] of Object.entries(table) as [OperationName, (string | null)[]][]) {
    it(`of ${name} are those of the contract`, async () => {
      for (const [index, kind] of kinds.entries()) {
        const { later: _, ...call } = goodCalls[name](stage);
        const { status, code, text } = await callers[kind].call(name, call);
        const wanted = expected[index];
        if (wanted === null) {
          expect(status, `${kind}: ${text}`).to.be.lessThan(500).and.not.equal(401);
          // What it names is not there, so nobody is told that it is not theirs.
          expect(classCodes, `${kind}: ${text}`).to.not.include(code);
        } else expect(`${status} ${code}`, kind).to.equal(`403 ${wanted}`);
        expect(text).to.not.include('abi_');
      }
    });
  }

  it('that are no people are told the command of their person, where it is for people', async () => {
    const known = commands();
    let handed = 0;
    for (const [name, row] of Object.entries(table) as [OperationName, (string | null)[]][]) {
      for (const [index, kind] of kinds.entries()) {
        if (row[index] !== PEOPLE) continue;
        handed++;
        const { later: _, ...call } = goodCalls[name](stage);
        const answer = await callers[kind].call(name, call);
        const { next } = (answer.body as unknown as { error: { next?: { command: string; resume: string } } }).error;
        expect(next?.resume, `${name} by ${kind}`).to.be.a('string');
        const [, words = '', address] = /^service (.+) --server '(.+)'$/.exec(next?.command ?? '') ?? [];
        expect(address, `${name} by ${kind}`).to.equal(server.url);
        expect(nextStep(next, server.url), 'a client shows it').to.deep.equal(next);
        const [first = '', second = ''] = words.split(' ');
        expect(known.has(`${first} ${second}`) || known.has(first), next?.command).to.equal(true);
      }
    }
    expect(handed).to.be.greaterThan(12);
  });

  /** Names of the commands there are, also those they had or have beside. */
  function commands(): Set<string> {
    const file = new URL('../../../oclif.manifest.json', import.meta.url);
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      commands: Record<string, { id: string; aliases: string[] }>;
    };
    const names = Object.values(manifest.commands).flatMap(({ id, aliases }) => [id, ...aliases]);
    return new Set(names.map((name) => name.replaceAll(':', ' ')));
  }
});
