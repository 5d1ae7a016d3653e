/** The server's settings. */
import type { Settings } from '../../contract/types.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { lockPeople } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import { readSettings, writeSettings } from './settings.store.ts';

export const getSettings: ReadCase<'getSettings'>['run'] = (tx) => readSettings(tx);

export const updateSettings: WriteCase<'updateSettings'> = {
  before: lockPeople,
  async run(tx, caller, { body, requestId }) {
    const before = await readSettings(tx);
    const after = { ...before, ...body };
    const details = difference(before, after);
    if (details) {
      await writeSettings(tx, after);
      await audit(tx, { action: 'settings.changed', by: caller, target: null, requestId, details });
    }
    return { answer: after };
  },
};

/** Only what changed; null: nothing did. */
function difference(before: Settings, after: Settings): Record<string, unknown> | null {
  const changed = (Object.keys(before) as (keyof Settings)[]).filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return null;
  return Object.fromEntries(changed.map((name) => [name, { before: before[name], after: after[name] }]));
}
