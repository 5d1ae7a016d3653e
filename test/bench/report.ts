/** What the benchmarks found, as pages: docs/bench/README.md with every figure, and in the README those that have a target or are headlines. */
import { type Figure, verdict } from './measure.ts';

export interface Report {
  at: string;
  command: string;
  machine: {
    cpu: string | undefined;
    cores: number;
    memory: string;
    platform: string;
    node: string;
    /** Null: it was not used. */
    postgres: string | null;
    sqlite: string;
    /** What else the machine did: its load average before the first section. */
    load: string;
    server: string;
    /** Null: it is not known. */
    commit: string | null;
  };
  figures: (Figure & { section: string })[];
}

export const machineWords = ({ machine }: Report): string =>
  [
    ...[machine.cpu, `${machine.cores} cores`, machine.memory, machine.platform, `Node.js ${machine.node}`],
    ...(machine.postgres === null ? [] : [`Postgres ${machine.postgres}`]),
    `SQLite ${machine.sqlite}`,
  ].join(', ');

const table = (figures: Figure[]): string[] => [
  '| Figure | Measured | Target |',
  '|---|---|---|',
  ...figures.map((figure) => `| ${figure.name} | ${figure.value} | ${verdict(figure)} |`),
];

export function docsPage(report: Report): string {
  const { at, command, machine, figures } = report;
  return [
    '# What was measured\n',
    `\`${command}\` on ${at.slice(0, 10)}: ${machineWords(report)}, server ${machine.server}, commit ${machine.commit ?? 'not recorded'}.`,
    `The load average of the machine was ${machine.load} before it began.\n`,
    ...table(figures),
    '',
  ].join('\n');
}

const MARKS = ['<!-- npm run bench writes this -->', '<!-- to here -->'] as const;

/** The README with these figures in place of those that it had. @throws Error where it has no place for them */
export function withTargets(readme: string, report: Report): string {
  const { machine, figures } = report;
  const [from, to] = MARKS.map((mark) => readme.indexOf(mark)) as [number, number];
  if (from < 0 || to < from) throw new Error(`the README has no place between ${MARKS.join(' and ')}`);
  const part = [
    MARKS[0],
    ...table(figures.filter(({ target, headline }) => target || headline)),
    '',
    `Measured on ${machineWords(report)}, whose load average was ${machine.load} before; the load ran on the same cores.`,
    MARKS[1],
  ];
  return readme.slice(0, from) + part.join('\n') + readme.slice(to + MARKS[1].length);
}
