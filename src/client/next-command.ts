/** The commands that a server may name to be run next. People and agents run them, so no other text of a server passes for one. */
import type { NextStep } from '../contract/errors.ts';
import { idPattern, patterns } from '../contract/ids.ts';
import { shellArgument } from '../contract/text.ts';

const part = ({ source }: RegExp): string => source.replace(/^\^|\$$/g, '');
const [approval, invite, pairing] = (['apr', 'inv', 'prq'] as const).map((prefix) => part(idPattern(prefix)));
const onBoard = `--board ${part(patterns.boardName)}`;

/** Those that look at what a notice tells of. */
const looks = [
  `approvals show ${approval}`,
  'pairing list(?: --state all)?',
  `task show [A-Z][A-Z0-9]{1,5}-[1-9][0-9]{0,8} ${onBoard}`,
  `members ${onBoard}`,
  `people show ${part(patterns.handle)}`,
];

/** Those by which a person decides, or a session takes its side of a pairing. */
const steps = [
  `approvals (?:allow|decline) ${approval}`,
  'allowance (?:show|off|history)',
  `invite (?:--person|list|(?:show|revoke) ${invite})`,
  `pairing (?:(?:show|decline) ${pairing}|(?:accept|select) ${pairing} --here)`,
  'connect --resume',
  'inbox',
];

const oneOf = (commands: string[]): RegExp => new RegExp(`^(service (?:${commands.join('|')}))(?: --server \\S+)?$`);
const LOOKS = oneOf(looks);
const ALL = oneOf([...looks, ...steps]);

/** The command of a notice without its server; null for any other text. */
export const lookIn = (command: string): string | null => LOOKS.exec(command)?.[1] ?? null;

/** The step of an answer, at the server that gave it; undefined where its command is none of these. */
export function nextStep(step: unknown, origin: string): NextStep | undefined {
  const { command, resume, board_view: view } = Object(step) as Partial<Record<keyof NextStep, unknown>>;
  const [, own] = (typeof command === 'string' && ALL.exec(command)) || [];
  if (own === undefined) return undefined;
  return {
    command: `${own} --server ${shellArgument(origin, null)}`,
    resume: cut(resume),
    ...(typeof view === 'string' ? { board_view: cut(view) } : {}),
  };
}

/** Most characters of one text in a refusal: a server could fill the screen, or the context of a model, with more. */
const MOST = 2_000;

/** A server's text, at most as long as any of a server of ours; empty for anything else. */
export const cut = (value: unknown, most = MOST): string => (typeof value === 'string' ? value.slice(0, most) : '');
