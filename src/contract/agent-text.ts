/** What an agent waits for and what it used, in words. What a program did not tell is unknown, and no zero. */
import type { AgentUsage, AgentWaiting } from './types.ts';

/** `your permission (tmux work:1.0): Bash: mkdir build` */
export function waitingWords({ for: what, question, where }: Omit<AgentWaiting, 'since'>): string {
  const thing = what === undefined ? 'you' : what === 'permission' ? 'your permission' : 'your answer';
  return `${thing}${where === undefined ? '' : ` (${where})`}${question === undefined ? '' : `: ${question}`}`;
}

/** A count, or that it is unknown. */
export const countWords = (count: number | undefined): string => (count === undefined ? 'unknown' : String(count));

/** In US dollars: to the cent, and to the hundredth of a cent where it is less than one. */
export const costWords = (cost: number | undefined): string =>
  cost === undefined ? 'unknown' : `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`;

/** `2 turns, 30 tokens in, 6 out, cost unknown` */
export function usageWords({ turns, input_tokens: read, output_tokens: written, cost_usd: cost }: AgentUsage): string {
  const told = [
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    `${countWords(read)} tokens in`,
    `${countWords(written)} out`,
    cost === undefined ? 'cost unknown' : costWords(cost),
  ];
  return told.join(', ');
}
