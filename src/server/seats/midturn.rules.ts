/** Whose messages may reach an agent in the middle of a turn. */
import type { MidturnPolicy } from '../../contract/types.ts';

/** The default where a person never chose. */
export const usualPolicy = (chosen: MidturnPolicy | null): MidturnPolicy => chosen ?? 'my-agents';

interface EffectivePolicy {
  policy: MidturnPolicy;
  source: 'person_default' | 'agent_override';
}

/** The policy for an agent. @param own its exception; @param chosen what its person chose for all. */
export const effectivePolicy = (own: MidturnPolicy | null, chosen: MidturnPolicy | null): EffectivePolicy =>
  own === null ? { policy: usualPolicy(chosen), source: 'person_default' } : { policy: own, source: 'agent_override' };
