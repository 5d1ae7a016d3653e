/** A line for the terminal, with a button that copies it: what a browser's session can never do. */
import { Icon } from './icon.tsx';
import { copy } from './toast.tsx';

/** An argument as a shell reads it. */
export const quoted = (text: string): string =>
  /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command for this server, whatever other servers the terminal knows. */
export const commandHere = (...words: string[]): string =>
  ['service', ...words, '--server', location.origin].map(quoted).join(' ');

/**
 * @param shown what stands there, when the line is too long to read
 * @param what the line's name in "Copied the command"
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
