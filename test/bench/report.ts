/**
 * What the benchmarks found, as pages: docs/bench/README.md with every figure, in the README those that have a target or are
 * headlines, and in docs/capacity.md how far it goes.
 */
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

type Measured = Report['figures'][number];
/** What the README shows. */
export const isHeadline = ({ target, headline }: Measured): boolean => target !== undefined || headline === true;
/** What docs/capacity.md shows. */
export const isOfCapacity = ({ section, chart }: Measured): boolean =>
  ['many', 'crowd', 'grow'].includes(section) || (chart !== undefined && !chart.other);

/** A page with those figures in place of the ones that it had. @throws Error where it has no place for them */
export function withFigures(page: string, report: Report, shown: (figure: Measured) => boolean): string {
  const { machine, figures } = report;
  const [from, to] = MARKS.map((mark) => page.indexOf(mark)) as [number, number];
  if (from < 0 || to < from) throw new Error(`the page has no place between ${MARKS.join(' and ')}`);
  const part = [
    MARKS[0],
    ...table(figures.filter(shown)),
    '',
    `Measured on ${machineWords(report)}, whose load average was ${machine.load} before; the load ran on the same cores.`,
    MARKS[1],
  ];
  return page.slice(0, from) + part.join('\n') + page.slice(to + MARKS[1].length);
}
