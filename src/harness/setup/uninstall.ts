/** Removes what was set up: our entries from other programs' files, and our own files unless they were edited. */
import { changeFile, ifReadable, readText, removeFile } from './files.ts';
import { digest, type Installed, type Item } from './installed.ts';
import { withoutPreCommit } from './pre-commit.ts';
import { isBlank, withoutHooks, withoutRule } from './settings.ts';

export type Removal = {
  path: string;
  kind: Item['kind'];
  /** `keep`: edited, so it is left; `gone`: it does not exist any more. */
  action: 'delete' | 'update' | 'keep' | 'gone' | 'unreadable';
  edited?: true;
};

/** Removes every item, the latest first; with `apply` false it only reports what would be done. */
export function uninstall(installed: Installed, ruleOf: (harness: string) => string | null, apply: boolean): Removal[] {
  // If several items changed one file, each sees the result of the one before.
  const texts = new Map<string, string | null>();
  return installed.items.toReversed().map((item) => {
    const rule = ruleOf(item.harness);
    const { action } = ifReadable<Outcome>({ action: 'unreadable', text: null }, () => {
      const outcome = outcomeFor(item, rule, texts.has(item.path) ? texts.get(item.path)! : readText(item.path));
      if (apply) perform(item, rule, outcome.action);
      texts.set(item.path, outcome.text);
      return outcome;
    });
    const { path, kind } = item;
    return { path, kind, action, ...(['keep', 'unreadable'].includes(action) ? { edited: true as const } : {}) };
  });
}

interface Outcome {
  action: Removal['action'];
  text: string | null;
}

function outcomeFor(item: Item, rule: string | null, text: string | null): Outcome {
  if (text === null) return { action: 'gone', text };
  if (item.kind === 'pre-commit') return ofScript(item, text);
  if (!isShared(item))
    return digest(text) === item.sha256 ? { action: 'delete', text: null } : { action: 'keep', text };
  const rest = without(item, rule, text);
  return item.created_file && isBlank(rest) ? { action: 'delete', text: null } : { action: 'update', text: rest };
}

function ofScript(item: Item, text: string): Outcome {
  const rest = withoutPreCommit(text, item);
  if (rest === null) return { action: 'keep', text };
  return rest.blank ? { action: 'delete', text: null } : { action: 'update', text: rest.text };
}

/** Whether other programs use the file too. */
const isShared = ({ kind, inserted }: Item): boolean =>
  kind === 'hooks' || (kind === 'allow-rule' && inserted.length > 0);

function without({ kind, harness, inserted, created_containers: created }: Item, rule: string | null, text: string) {
  const trace = { inserted, created };
  return kind === 'hooks' ? withoutHooks(text, harness, trace) : withoutRule(text, rule ?? '', trace);
}

/** Computes the change again from the file's current content, so that concurrent changes are not lost. */
function perform(item: Item, rule: string | null, action: Removal['action']): void {
  if (action === 'delete') removeFile(item.path, item.created_folders);
  if (action !== 'update') return;
  const rest = (text: string) =>
    item.kind === 'pre-commit' ? (withoutPreCommit(text, item)?.text ?? text) : without(item, rule, text);
  changeFile(item.path, (text) => (text === null ? null : rest(text)));
}
