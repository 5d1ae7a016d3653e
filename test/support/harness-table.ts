/** The README's table of agent programs: what each was seen to do in the real program, by version and day. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What one check showed in one program. */
export interface Shown {
  harness: string;
  name: string;
  version: string;
  check: string;
  result: 'pass' | 'fail';
  /** A day, UTC. */
  at: string;
}

const readme = fileURLToPath(new URL('../../README.md', import.meta.url));
const marks = /(<!-- agent programs: what the tests in them showed -->\n)[\s\S]*?(<!-- end -->)/;

/** What a reader of the table wants to know, by the check that shows it. */
const questions: [string, string][] = [
  ['join', 'joins by one pasted line'],
  ['idle', 'is woken while idle'],
  ['owner_word', 'is told its person’s word as its user’s when woken'],
  ['turn-end', 'is given what waited at the end of a turn'],
  ['owner_midturn', 'hears its person at the next tool call, of others a notice'],
  ['turn_start', 'is given quiet messages with the next prompt'],
  ['waiting', 'is shown as waiting, with what it asks, while it asks its person for permission'],
  ['usage', 'tells what each run used, where it is run without a terminal'],
  ['modes', 'heeds `service agent delivery`'],
  ['together', 'talks with the other program on the same laptop'],
  ['nested', 'is told apart from the other program that it starts by a command'],
  ['subagent', 'keeps what it is given from its subagents, which may only read'],
  ['compact', 'keeps its seat over a compaction'],
  ['clear', 'has no seat after it was cleared, until it takes one'],
  ['takeover', 'hears nothing more once another session took its seat'],
  ['resume', 'has its seat again after a resume'],
  ['resume_wake', 'is woken after a resume without a first prompt'],
  ['crash', 'loses nothing when the daemon is killed'],
  ['upgrade', 'loses nothing when the daemon is replaced by a newer one'],
  ['kill', 'loses nothing when it is killed itself'],
];

export function table(shown: Shown[]): string {
  const programs = [...new Map(shown.map((one) => [one.harness, one])).values()];
  const row = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const lines = [
    row(['', ...programs.map(({ name, version }) => `${name} ${version}`)]),
    row(['---', ...programs.map(() => '---')]),
  ];
  for (const [check, question] of questions) {
    const results = programs.map(({ harness }) => shown.find((one) => one.harness === harness && one.check === check));
    lines.push(row([question, ...results.map((one) => (one?.result === 'pass' ? 'yes' : 'not shown'))]));
  }
  lines.push(row(['seen on', ...programs.map(({ at }) => at)]));
  return `${lines.join('\n')}\n`;
}

/** The table as the README has it. */
export function tableInReadme(): string {
  return (
    marks
      .exec(readFileSync(readme, 'utf8'))?.[0]
      .replace(marks, (all, begin, end) => all.slice(begin.length, -end.length)) ?? ''
  );
}

export function writeTable(shown: Shown[]): void {
  const text = readFileSync(readme, 'utf8');
  writeFileSync(
    readme,
    text.replace(marks, (_, begin, end) => `${begin}${table(shown)}${end}`),
  );
}
