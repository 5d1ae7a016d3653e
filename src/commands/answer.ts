import { integerFlag, optional, required, WriteCommand } from '../cli/base.ts';
import { answeredAsk } from '../cli/shapes.ts';
import { answer } from './ask/lib/answer.ts';

export const json = () => answeredAsk;

export default class Answer extends WriteCommand<typeof Answer> {
  static override summary = 'Answer an ask';
  static override description =
    'With an option, in words, or both. The one asked may answer, and the person of the agent that asks. Answering again\nreplaces the answer. What is piped in is read too, with --option only where "-" says so.';
  static override examples = [
    'service answer 88 --option 1',
    'service answer 88 "Ten minutes, but log it"',
    'service answer 88 --option 2 "Not before Monday"',
  ];
  static override seeAlso = ['asks', 'ask', 'withdraw'];
  static override mayBeEmpty = ['text'];
  static override args = {
    message: required('The ask: 88, general#88 or msg_…'),
    text: optional('The answer in words, or - for standard input'),
  };
  static override flags = { option: integerFlag('K', 'The option that is picked', { min: 1, max: 4 }) };

  override async run(): Promise<void> {
    const { message, text } = this.args;
    const options = { message, text, option: this.flags.option, key: this.key };
    await answer((named) => this.onBoard('A', { named }), options, this.out);
  }
}
