import { z } from 'zod';
import { BaseCommand, booleanFlag, choiceFlag, confirmFlags, listFlag } from '../../cli/base.ts';
import { requireOutside } from '../../cli/session/here.ts';
import { fileChange, flag, object, text } from '../../cli/shapes.ts';
import { initText, requireReadable, Init as Setup } from './lib/harness-setup.ts';

export const json = () => {
  const changes = z.array(fileChange('create', 'update', 'keep', 'unreadable'));
  const harness = z.strictObject({
    name: text,
    detected: flag,
    version: text.nullable(),
    changes,
  });
  return object({
    applied: flag,
    scope: z.enum(['global', 'project']),
    harnesses: z.array(harness),
    pre_commit: changes.optional(),
  });
};

export default class Init extends BaseCommand<typeof Init> {
  static override summary = 'Set up the agent programs of this machine, so that messages arrive in their sessions';
  static override description =
    'Adds hooks of ours to their settings, and a skill that teaches their agents the commands. Nothing else in those files\nchanges, and service uninstall gives them back byte for byte. Without --yes it shows the changes; at a terminal it asks.\nIt may be run again at any time: what is up to date stays.\nWith --claims a session is told, once a file, when it changes one that is in the line of another agent; --no-claims ends that.\n--pre-commit lets git ask service who in this repository, which stops a commit of such files.';
  static override examples = [
    'service init',
    'service init --yes',
    'service init --yes --harness codex --allow-commands',
    'service init --project --yes',
    'service init --yes --claims --pre-commit',
  ];
  static override seeAlso = ['uninstall', 'skill', 'harness test', 'doctor'];
  static override flags = {
    scope: choiceFlag(['global', 'project'], 'For all your sessions (default), or in this folder'),
    project: booleanFlag('As --scope project', { exclusive: ['scope'] }),
    harness: listFlag({ helpValue: 'NAME', description: 'Only these programs, also when they are not found' }),
    'allow-commands': booleanFlag('Let agents run service without asking each time'),
    claims: booleanFlag('Tell sessions who else is on the files they change', { allowNo: true }),
    'pre-commit': booleanFlag('Ask before each commit in this repository, too'),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    requireOutside('service init');
    const { project, harness = [], 'allow-commands': allow = false, yes = false, claims } = this.flags;
    const scope = project || this.flags.scope === 'project' ? ('project' as const) : ('global' as const);
    const setup = await Setup.of({ scope, harness, allow, claims });
    const run = async (apply: boolean) => ({
      ...(await setup.run(apply, harness)),
      ...(this.flags['pre-commit'] ? { pre_commit: await setup.preCommit(apply) } : {}),
    });
    const plan = await run(false);
    const apply =
      yes ||
      (await this.agreed(
        plan.harnesses.some(({ changes }) => changes.length > 0) || (plan.pre_commit ?? []).length > 0,
        initText(plan, null),
      ));
    const record = apply ? await run(true) : plan;
    const said = [...setup.untested(), ...(apply ? setup.warnings() : [])];
    for (const { code, message, hint } of said) this.out.warn(code, message, hint);
    requireReadable(record);
    this.print<typeof json>(record, () =>
      [initText(record, `${this.line()} --yes`), ...(apply ? setup.notes() : [])].join('\n'),
    );
  }

  /** At a terminal the changes are shown and asked for; elsewhere they are only shown. */
  private async agreed(any: boolean, text: string): Promise<boolean> {
    const { askYes, mayAsk } = await import('../../cli/terminal/prompts.ts');
    if (!any || !mayAsk(this.out, this.noInput)) return false;
    this.out.note(text);
    await askYes('Make these changes?');
    return true;
  }
}
