import { BaseCommand, stringFlag } from '../cli/base.ts';
import { runtime } from '../cli/runtime.ts';
import { object, text } from '../cli/shapes.ts';
import { loadProfiles } from '../harness/load.ts';
import { skillText } from '../harness/skill.ts';
import { usage } from '../local/failure.ts';

export const json = () => object({ skill: text });

export default class Skill extends BaseCommand<typeof Skill> {
  static override summary = 'Print what an agent has to know to work on boards';
  static override description =
    'The text that service init gives to the programs it sets up; any other program can be given it by hand.';
  static override examples = ['service skill', 'service skill --harness codex', 'service skill > AGENT-SKILL.md'];
  static override seeAlso = ['init', 'inbox'];
  static override flags = { harness: stringFlag('NAME', 'As for this program (default: one without delivery)') };

  override async run(): Promise<void> {
    const { harness } = this.flags;
    const { all } = await loadProfiles(runtime().folders.config);
    const profile = all.find((one) => one.harness === harness) ?? null;
    if (harness !== undefined && !profile)
      throw usage(`There is no profile of ${harness}.`, `Choose: ${all.map((one) => one.harness).join(', ')}`);
    const skill = skillText(profile);
    this.out.tagged = true;
    this.print<typeof json>({ skill }, () => skill.trimEnd());
  }
}
