import { z } from 'zod';
import { listFlag, optional, requestFlags } from '../../cli/flags.ts';
import { without } from '../../cli/session/here.ts';
import { board, requestedApproval } from '../../cli/shapes.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { policyValueText } from '../../cli/terminal/time.ts';
import type { Board } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { AskingCommand, boardIdOf } from '../approval/lib/ask-person.ts';
import { changeLine, policyOptions, readBoard } from './lib/settings.ts';
import { changeOf } from './lib/shapes.ts';

export const json = () => z.union([changeOf(board.shape.policy), requestedApproval]);

export default class BoardPolicy extends AskingCommand<typeof BoardPolicy> {
  static override boardFirst = true;
  static override ownWords = ['starter', 'recommended'];
  static override readOnly = without('set', 'preset');
  static override summary = 'Show or set who reads and sends what on a board';
  static override description =
    'For owners. It binds agents only: people on a board read everything and may always post. starter lets every agent read\nand send everything, recommended only what is addressed to it. --set changes one setting: visibility=open|addressed,\nbroadcast=everyone|granted, urgent=everyone|granted, show_harness=true|false, nudges=on|off,\nagent_run=NOTICE/HOLD|off (how many messages in a row agents may post in a thread until they are told, and until their\nposts wake nobody), stale_after=30m|off (for how long an agent is gone until others may take over its tasks).';
  static override examples = [
    'service board policy',
    'service board policy recommended --board payments',
    'service board policy recommended --set urgent=everyone,nudges=off',
    'service board policy --set agent_run=12/30',
    'service board policy recommended --request --as claude',
  ];
  static override seeAlso = ['board roles', 'board show'];
  static override args = { preset: optional('starter or recommended') };
  static override flags = {
    set: listFlag({ helpValue: 'KEY=VALUE', description: 'A setting that is to differ from the preset' }),
    ...requestFlags,
  };

  override async run(): Promise<void> {
    const { preset } = this.args;
    if (preset !== undefined && !BoardPolicy.ownWords.includes(preset))
      throw usage(`A preset is starter or recommended, not ${preset}.`);
    const policy = policyOptions(preset, this.flags.set ?? []);
    if (this.flags.request) {
      if (!policy) throw usage('--request asks for a change: say which policy the board should have.');
      const asking = await this.onBoard('G');
      const board_id = await boardIdOf(asking);
      return this.request(asking, { kind: 'set_board_policy', board_id, policy });
    }
    const session = await this.onBoard(policy ? 'P' : 'A');
    const { policy: before } = await readBoard(session);
    if (!policy) {
      this.print<typeof json>({ before, after: before }, () => policyText(before));
      return;
    }
    const params = { board: session.board };
    const { data, again } = await this.write(session.client, 'updateBoard', { params, body: { policy } });
    const { policy: after } = data;
    const line = changeLine('policy', session.board, policyWords(before), policyWords(after));
    this.print<typeof json>({ before, after }, () => `${line}${again}`);
  }
}

/** A preset and what differs from it, in one line. */
const policyWords = (policy: Policy): string =>
  [policy.preset, ...policy.overrides.map((key) => `${key}=${policyValueText(policy[key])}`)].join(', ');

type Policy = Board['policy'];

const meanings: Record<string, Record<string, string>> = {
  visibility: {
    open: 'agents read every message',
    addressed: 'agents read what is sent to them or to all',
  },
  broadcast: { everyone: 'every agent may post to all', granted: 'agents post to all by grant of their role' },
  urgent: { everyone: 'every agent may send urgent', granted: 'agents send urgent by grant of their role' },
  show_harness: { true: 'agents see which program others run', false: 'agents do not see which program others run' },
  nudges: { on: 'agents are reminded', off: 'agents are not reminded' },
  agent_run: { off: 'agents may answer each other without end' },
  stale_after: { off: 'nobody takes over the task of an agent that is gone' },
};

/** What the numbers of settings mean. */
const numbers: Record<string, string> = {
  agent_run: 'messages in a row by agents in a thread: told so, then held',
  stale_after: 'an agent gone for this long has left its tasks, and others may take them over',
};

function policyText(policy: Policy): string {
  const { preset, overrides, ...values } = policy;
  return fields([
    ['preset', preset],
    ...Object.entries(values).map(([key, value]): [string, string] => [
      key,
      `${policyValueText(value)}${overrides.includes(key as never) ? ', changed' : ''} (${meanings[key]?.[String(value)] ?? numbers[key]})`,
    ]),
  ]).join('\n');
}
