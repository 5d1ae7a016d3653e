/** Asks before something that is not simply undone: it says in words what will happen. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWrite } from '../state/write.ts';
import { Dialog } from './dialog.tsx';
import { ProblemLine } from './problem.tsx';
import './form.css';

/**
 * @param action what the button that does it says
 * @param typed a word that has to be typed first
 * @param send carries it out; the dialog closes when it succeeded
 */
export function Confirm(props: {
  title: string;
  action: string;
  typed?: string;
  ready?: boolean;
  children: ComponentChildren;
  send: (key: string) => Promise<unknown>;
  close: () => void;
}) {
  const { title, action, typed, ready = true, children, send, close } = props;
  const [word, setWord] = useState('');
  const { busy, error, run } = useWrite();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(action, async (key) => {
      await send(key);
      close();
    });
  };
  return (
    <Dialog label={title} class="form" close={close}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {typed !== undefined && (
          <label>
            Type {typed} to go on
            <input class="in" value={word} autocomplete="off" onInput={(event) => setWord(event.currentTarget.value)} />
          </label>
        )}
        {error !== null && <ProblemLine error={error} />}
        <div class="row w end">
          <button type="button" class="b" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="b pri" disabled={busy || !ready || (typed !== undefined && word !== typed)}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
