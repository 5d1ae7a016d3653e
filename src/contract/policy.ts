/** The presets of a board's policy, and what a change of a policy sets. */
import type { Policy, PolicyChange, Preset } from './types.ts';

export type StoredPolicy = Omit<Policy, 'overrides'>;

const starter: StoredPolicy = {
  preset: 'starter',
  visibility: 'open',
  broadcast: 'everyone',
  urgent: 'everyone',
  show_harness: true,
  nudges: 'on',
  agent_run: { notice: 12, hold: 30 },
  stale_after: 1_800,
};

export const presets: Record<Preset, StoredPolicy> = {
  starter,
  recommended: {
    ...starter,
    preset: 'recommended',
    visibility: 'addressed',
    broadcast: 'granted',
    urgent: 'granted',
  },
};

/** A change with all keys that it sets: a preset first resets every key to itself, then the other keys apply. */
export const wholeChange = (change: PolicyChange): PolicyChange => ({
  ...(change.preset === undefined ? {} : presets[change.preset]),
  ...change,
});
