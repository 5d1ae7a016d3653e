/** Names agents get when none is asked for. */
import { slug } from '../../contract/slug.ts';

/** Harnesses with a shorter everyday name. */
const shortNames: Record<string, string> = { 'claude-code': 'claude' };

/**
 * The name a new agent starts from: its harness's short name, or its role when there is none. While the policy hides
 * harnesses, agents are numbered from 1 instead.
 */
export function agentNameBase(showHarness: boolean, harness: string | null, role: string): string {
  if (!showHarness) return 'agent';
  const known = harness === null ? undefined : shortNames[harness];
  if (known !== undefined) return known;
  return slug(harness ?? '') || role;
}
