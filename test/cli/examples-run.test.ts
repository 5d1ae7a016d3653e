/**
 * Every example of the help is run as it stands, in a world where its words mean something, by the built program; then
 * what has not printed JSON by then prints it, so that every published shape is held against real output.
 */
import { expect } from 'chai';
import { readCatalog, visibleCommands } from '../../src/cli/help/catalog.ts';
import { allShapes } from '../../tools/shapes.ts';
import { collect, finished, Home, type Result, until } from './support/home.ts';
import { machinePlays } from './support/machine-plays.ts';
import { type Play, plays, spoiling } from './support/plays.ts';
import { root } from './support/root.ts';
import { checkShape, seen } from './support/shapes.ts';
import { Stage } from './support/stage.ts';
import { callsOf } from './support/words.ts';

const LANES = 3;
const commands = visibleCommands(readCatalog(root));
const shapes = await allShapes();

interface Trouble {
  line: string;
  problem: string;
}

/** What went wrong, by command. */
const troubles = new Map<string, Trouble[]>();

describe('every example', function () {
  this.timeout(900_000);

  before(async () => {
    const machines = commands.filter(({ id }) => machinePlays[id]);
    const alone = commands.filter(({ id }) => spoiling.has(id));
    const others = commands.filter(({ id }) => !machinePlays[id] && !spoiling.has(id));
    const lane = (n: number) => others.filter((_, i) => i % LANES === n);
    const all = [
      onMachine(machines),
      inOwnWorlds(alone),
      ...Array.from({ length: LANES }, (_, n) => inOneWorld(lane(n))),
    ];
    await Promise.all(all);
  });

  after(() => Stage.clear());

  for (const { id } of commands)
    it(`of ${id.replaceAll(':', ' ')} runs`, () => {
      expect(troubles.get(id)?.map(({ line, problem }) => `${line}\n${problem}`) ?? []).to.deep.equal([]);
    });

  it('and each command prints JSON of the shape that is published', () => {
    // These need the session of an agent's program.
    const inSessions = ['agent:resume', 'pairing:accept', 'pairing:select'];
    expect(Object.keys(shapes).filter((id) => !seen.has(id) && !inSessions.includes(id))).to.deep.equal([]);
  });
});

type Command = (typeof commands)[number];

/** Commands that leave the world as they need it. */
async function inOneWorld(some: Command[]): Promise<void> {
  const stage = await Stage.set();
  for (const command of some)
    for (const line of linesOf(command))
      await play(command.id, line, stage.home, () => prepared(stage, command.id, line));
  await stage.strike();
}

async function inOwnWorlds(some: Command[]): Promise<void> {
  for (const command of some)
    for (const line of linesOf(command)) {
      const stage = await Stage.set();
      await play(command.id, line, stage.home, () => prepared(stage, command.id, line));
      await stage.strike();
    }
}

async function onMachine(some: Command[]): Promise<void> {
  const stage = await Stage.set();
  const home = new Home();
  await home.json(['board', 'create', 'general']);
  const url = { 'https://team.example.com': stage.server.url };
  for (const command of some)
    for (const line of linesOf(command))
      await play(command.id, line, home, async () => {
        const made = await machinePlays[command.id]!(home, line, stage.server.url);
        return { ...made, words: { ...(line.includes('--public-url') ? {} : url), ...made.words } };
      });
  await home.close();
  await stage.strike();
}

/** Its examples, and the first of them as JSON where nobody has seen that yet. */
function* linesOf({ id, examples = [] }: Command): Generator<string> {
  yield* examples;
  const [first = ''] = examples.filter((line) => !/[|>]|--ndjson/.test(line) && !line.includes('--follow'));
  // What a line reads, and the program it runs, come last.
  const rest = / (?:< |-- )/.exec(first)?.index ?? first.length;
  if (shapes[id] && !seen.has(id) && first) yield `${first.slice(0, rest)} --json${first.slice(rest)}`;
}

const prepared = async (stage: Stage, id: string, line: string): Promise<Play> => {
  stage.link();
  const made = (await plays[id]?.(stage, line)) ?? {};
  const url = { 'https://team.example.com': stage.server.url };
  return { ...made, words: { ...url, ...made.words } };
};

async function play(id: string, example: string, home: Home, prepare: () => Promise<Play>): Promise<void> {
  let line = example;
  try {
    const made = await prepare();
    line = Object.entries(made.words ?? {}).reduce((text, [word, meant]) => text.replaceAll(word, meant), example);
    line = line.replace(/( < \S+) --json$/, ' --json$1');
    let result = await run(home, line, made);
    // Where nobody can be asked, the question is refused and its answer is a flag.
    if (result.code === 2 && `${result.stdout}${result.stderr}`.includes('confirmation_required'))
      result = await run(home, `${line} --yes`, made);
    const said = `${result.stdout}${result.stderr}`;
    // What is interrupted before it began to follow ends as any command does.
    const done = result.code === 0 || (made.until !== undefined && result.code === 130);
    const asWanted = made.refused === undefined ? done : said.includes(made.refused);
    if (!asWanted) throw new Error(`exit ${result.code}\n${said}`);
    if (!line.includes('|')) await checkShape(callsOf(line).at(-1) ?? [], result);
  } catch (error) {
    const { message } = error as Error;
    troubles.set(id, [
      ...(troubles.get(id) ?? []),
      { line: `${example}${line === example ? '' : `\nas ${line}`}`, problem: message },
    ]);
  }
}

async function run(home: Home, line: string, made: Play): Promise<Result> {
  const { env = {}, after, meanwhile, until: shown } = made;
  if (after === undefined && shown === undefined) return home.shell(line, { env });
  const child = home.startShell(shown === undefined ? line : `exec ${line}`, { env });
  const printed = collect(child);
  const has = (text: string) => `${printed().stdout}${printed().stderr}`.includes(text);
  const ended = () => child.exitCode !== null;
  if (after !== undefined) {
    await until(`"${after}" is printed`, () => has(after) || ended());
    await meanwhile?.(`${printed().stdout}${printed().stderr}`);
  }
  if (shown !== undefined) {
    await until(`"${shown}" is printed`, () => has(shown) || ended());
    child.kill('SIGINT');
  }
  const { code } = await finished(child);
  return { code, ...printed() };
}
