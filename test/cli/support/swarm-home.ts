/** A home with the launcher `local`, for tests of swarms; each is stopped and all is taken away after each test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Home } from './home.ts';
import { TestLauncher } from './launched.ts';

/** A swarm of one agent that the launcher `local` starts. */
export const BOT = 'board: demo\nagents:\n  - {name: bot, harness: command, launcher: local, args: [cat]}\n';

export class SwarmHome {
  readonly home = new Home();
  readonly launcher = new TestLauncher(this.home);

  constructor() {
    // tmux has a server of its own here.
    this.home.env.TMUX_TMPDIR = this.home.dir;
  }

  /** Writes a file of the project. */
  write(text: string, name = 'service.yaml'): void {
    writeFileSync(join(this.home.work, name), text);
  }

  /** What a command that has to fail says. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed is checked field by field
  async errorOf(args: string[], env: Record<string, string> = {}): Promise<any> {
    const { code, stdout } = await this.home.run([...args, '--json'], { env });
    return { exit: code, ...JSON.parse(stdout).error };
  }

  async close(): Promise<void> {
    this.launcher.behave({});
    const { swarms } = await this.home.json(['swarm', 'list']);
    for (const { swarm } of swarms) await this.home.run(['swarm', 'down', swarm]);
    await this.home.run(['daemon', 'stop']);
    await this.home.close();
  }
}

interface Swarms extends Pick<SwarmHome, 'write' | 'errorOf'> {
  /** A home of which no server runs yet. */
  unserved(): SwarmHome;
}

/** Call inside `describe`. @param use is given what each test has @returns what works on that of the test that runs */
export function swarmHome(use: (world: SwarmHome) => void): Swarms {
  let world: SwarmHome;
  const worlds: SwarmHome[] = [];
  const unserved = () => {
    const made = new SwarmHome();
    worlds.push(made);
    return made;
  };
  beforeEach(async () => {
    world = unserved();
    await world.home.serve();
    use(world);
  });
  afterEach(async () => {
    for (const made of worlds.splice(0)) await made.close();
  });
  return {
    write: (...file) => world.write(...file),
    errorOf: (...command) => world.errorOf(...command),
    unserved,
  };
}
