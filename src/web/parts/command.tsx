/** Rows of facts; and a command for the terminal with a copy button, for what a browser session is not allowed to do. */
import type { ComponentChildren } from 'preact';
import { shellArgument } from '../../contract/text.ts';
import { Icon } from './icon.tsx';
import { copy } from './toast.tsx';

/** A `service` command with `--server`, because the command line may know several servers. */
export const serverCommand = (...words: string[]): string =>
  ['service', ...words, '--server', location.origin].map((word) => shellArgument(word)).join(' ');

/**
 * @param shown text to display instead of a long line
 * @param what what the toast says was copied
 */
export function Command(props: { line: string; shown?: string; what?: string; primary?: boolean }) {
  const { line, shown = line, what = 'the command', primary = false } = props;
  return (
    <div class={primary ? 'cmd big' : 'cmd'}>
      <code>{shown}</code>
      <button
        type="button"
        class={primary ? 'b pri' : 'b'}
        aria-label={primary ? undefined : `Copy ${shown}`}
        onClick={() => void copy(line, what)}
      >
        <Icon name="copy" />
        Copy
      </button>
    </div>
  );
}

/** A row of a `<dl>`: what is known under a name. */
export const Fact = (props: { name: string; class?: string; title?: string; children: ComponentChildren }) => (
  <div>
    <dt>{props.name}</dt>
    <dd class={props.class} title={props.title}>
      {props.children}
    </dd>
  </div>
);
