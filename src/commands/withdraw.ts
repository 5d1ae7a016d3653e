import { optional, required, WriteCommand } from '../cli/base.ts';
import { answeredAsk } from '../cli/shapes.ts';
import { answer } from './ask/lib/answer.ts';

export const json = () => answeredAsk;

export default class Withdraw extends WriteCommand<typeof Withdraw> {
  static override summary = 'Take an ask back';
  static override description =
    'For the one who asked; once an agent has left the board, its person and the owners of the board may too. Its task goes on.';
  static override examples = ['service withdraw 88 --as codex', 'service withdraw 88 "Found it in the notes"'];
  static override seeAlso = ['ask', 'asks', 'answer'];
  static override args = {
    message: required('The ask: 88, general#88 or msg_…'),
    why: optional('Why, for the record'),
  };

  override async run(): Promise<void> {
    const { message, why } = this.args;
    const options = { message, text: why, withdrawn: true as const, key: this.key };
    await answer((named) => this.onBoard('A', { named }), options, this.out);
  }
}
