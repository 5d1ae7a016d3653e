import { BaseCommand, requiredFlag } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { loadKit } from '../../harness/load-test-kit.ts';
import { profileMeant } from './lib/testing.ts';

export default class HarnessFake extends BaseCommand<typeof HarnessFake> {
  static override hidden = true;
  static override summary = 'Stand in for an agent program';
  static override description =
    'For the conformance kit: takes steps as JSON lines on standard input, runs the entries of a settings file as the program\nwould, and writes down as JSON lines what reached its session.';
  static override examples = ['service harness fake --profile codex --settings hooks.json --folder /tmp/fake'];
  static override seeAlso = ['harness test'];
  static override flags = {
    profile: requiredFlag('NAME', 'Profile of the program'),
    settings: requiredFlag('PATH', 'Settings with the entries'),
    folder: requiredFlag('DIR', 'Where fake programs leave what they get'),
  };

  override async run(): Promise<void> {
    const { settings, folder } = this.flags;
    const { env, folders } = runtime();
    const profile = await profileMeant(this.flags.profile);
    const kit = await loadKit();
    const program = [process.execPath, ...process.execArgv, runtime().program];
    await kit.standIn({ profile, settings, folder, program, state: folders.state, env, cwd: process.cwd() });
    // Nothing that runs in the background keeps it.
    process.exit(0);
  }
}
