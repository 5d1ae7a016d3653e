/** Budgets of agents, as they are typed and shown. */
import { duration, showTime, span } from '../../../cli/terminal/time.ts';
import type { Answer, BodyIn, Budget, Member } from '../../../contract/types.ts';
import { budgetTimes } from '../../../contract/values.ts';
import { Failure, usage } from '../../../local/failure.ts';

type Change = BodyIn<'setAgentBudget'>;

/** `40/10m,400/24h` @throws Failure `invalid_request` (exit 2). */
export const wakesOf = (text: string): Change['wakes'] => {
  const parts = text.split(',');
  const limits = parts.map((part) => {
    const [, count = '', time = ''] = /^(\d{1,6})\/(\w+)$/.exec(part.trim()) ?? [];
    return { count: Number(count), seconds: secondsOf(time, '--wakes') };
  });
  if (parts.length > budgetTimes.wakes || limits.some(({ count, seconds }) => !count || !seconds))
    throw usage(
      `--wakes takes one or two numbers of wakes with a time, but got "${text}".`,
      'Such as --wakes 40/10m,400/24h',
    );
  return limits;
};

/** `5/24h`, in US dollars. @throws Failure `invalid_request` (exit 2). */
export function costOf(text: string): Change['cost'] {
  const [, usd = '', time = ''] = /^(\d{1,7}(?:\.\d{1,4})?)\/(\w+)$/.exec(text) ?? [];
  const seconds = secondsOf(time, '--cost');
  if (!Number(usd) || !seconds)
    throw usage(`--cost takes US dollars with a time, but got "${text}".`, 'Such as --cost 5/24h');
  return { usd: Number(usd), seconds };
}

/** 0 for no time. @throws Failure `invalid_request` (exit 2) for one that no budget counts in. */
function secondsOf(time: string, flag: string): number {
  const seconds = time === '' ? 0 : duration(time, flag);
  const { least, most } = budgetTimes;
  if (seconds !== 0 && (seconds < least || seconds > most))
    throw usage(`${flag} takes times from ${span(least)} to ${span(most)}, but got "${time}".`);
  return seconds;
}

/** The budget of an own agent. @throws Failure `agent_owner_required` for another's. */
export function budgetOf({ board, name, id, budget, braked }: Member): Answer<'setAgentBudget'> {
  if (!budget)
    throw new Failure('agent_owner_required', `${name} is not an agent of yours.`, {
      hint: 'service agents shows yours',
    });
  return { board, agent: name, member_id: id, budget, braked: braked ?? null };
}

/** As `--wakes` takes it. */
const wakesText = (wakes: Budget['wakes']): string =>
  wakes === 'off' ? 'without limit' : wakes.map(({ count, seconds }) => `${count}/${span(seconds)}`).join(', ');

const pauseText = ({ until, reason }: NonNullable<Member['braked']>): string =>
  `Paused until ${showTime(until, 'local')}${reason === 'reads' ? ', or until its program acknowledges what it reads (service inbox ack)' : ''}; people still wake it.`;

/** Two or three lines: the limits, and the pause. */
export function budgetText({ agent, board, budget, braked }: Answer<'setAgentBudget'>): string {
  const { wakes, cost } = budget;
  return [
    `Wakes of ${agent} on ${board} by agents: ${wakesText(wakes)}${cost ? ` · cost $${cost.usd}/${span(cost.seconds)}` : ''}`,
    braked ? pauseText(braked) : "Agents' messages wake it.",
  ].join('\n');
}
