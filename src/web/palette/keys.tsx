/** The list of active keys by group, and the switch that turns single keys off. */
import './palette.css';
import { Dialog } from '../parts/dialog.tsx';
import { IconButton } from '../parts/icon.tsx';
import { formatKeys, type KeyBinding, keyGroups, setSingleKeys, singleKeys } from '../state/keys.ts';
import { closeOverlay } from '../state/overlay.ts';

/** Merges bindings with the same label into one line, in their order. */
function byLabel(bindings: readonly KeyBinding[]): [string, string[]][] {
  const lines = new Map<string, string[]>();
  for (const { label, keys } of bindings) {
    const known = lines.get(label) ?? [];
    if (!known.includes(keys)) lines.set(label, [...known, keys]);
  }
  return [...lines];
}

/** Merges groups with the same name. */
function merged(): [string, KeyBinding[]][] {
  const groups = new Map<string, KeyBinding[]>();
  for (const { name, bindings } of keyGroups.value) groups.set(name, [...(groups.get(name) ?? []), ...bindings]);
  // What works everywhere comes first, then what this screen adds.
  return [...groups].toReversed();
}

export default function Keys() {
  return (
    <Dialog label="Keys" class="kd" onClose={closeOverlay}>
      <div class="row">
        <h1>Keys</h1>
        <span class="sp" />
        <IconButton icon="x" label="Close" onClick={closeOverlay} />
      </div>
      <div class="kg">
        {merged().map(([name, bindings]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {byLabel(bindings).map(([label, keys]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>
                    {keys.length > 2 ? (
                      <>
                        <Key keys={keys[0]!} />–<Key keys={keys.at(-1)!} />
                      </>
                    ) : (
                      keys.map((one) => <Key key={one} keys={one} />)
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="q2 kf">
        {singleKeys.value
          ? 'Single keys work while no text field has the focus.'
          : 'Single keys are off in this browser; those with Ctrl or ⌘ work.'}{' '}
        <button type="button" class="link" onClick={() => setSingleKeys(!singleKeys.value)}>
          {singleKeys.value ? 'Turn them off' : 'Turn them on'}
        </button>
      </p>
    </Dialog>
  );
}

const Key = ({ keys }: { keys: string }) => (
  <span class="nw">
    {formatKeys(keys)
      .split(' ')
      .map((one) => (
        <kbd key={one}>{one}</kbd>
      ))}
  </span>
);
