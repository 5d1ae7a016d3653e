import { BaseCommand, required } from '../cli/base.ts';
import { runtime } from '../cli/runtime.ts';

export default class HookCommand extends BaseCommand<typeof HookCommand> {
  static override hidden = true;
  static override summary = 'What agent programs run at the steps of a session';
  static override description =
    'Set up by service init, and not for people. It reads the program’s JSON from standard input, prints nothing or one JSON\nobject, and never stops the program.';
  static override examples = ['service hook claude-code prompt'];
  static override seeAlso = ['init', 'harness test'];
  static override args = { harness: required('The agent program'), event: required('What happens there') };

  override async run(): Promise<void> {
    // The program's entry file does this without the command line; here it comes from other ways in.
    const { pathToFileURL } = await import('node:url');
    const { start } = await import('../hook/main.ts');
    await start(pathToFileURL(runtime().program).href, [this.args.harness, this.args.event]);
  }
}
