/** Asks before something that is not simply undone: it says in words what will happen. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWrite } from '../state/write.ts';
import { FormDialog } from './form.tsx';

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
  const { title, action, typed, ready = true, children, close } = props;
  const [word, setWord] = useState('');
  const write = useWrite();
  const send = (): void => {
    void write.run(action, async (key) => {
      await props.send(key);
      close();
    });
  };
  return (
    <FormDialog
      title={title}
      write={write}
      action={action}
      ready={ready && (typed === undefined || word === typed)}
      send={send}
      close={close}
    >
      {children}
      {typed !== undefined && (
        <label>
          Type {typed} to go on
          <input class="in" value={word} autocomplete="off" onInput={(event) => setWord(event.currentTarget.value)} />
        </label>
      )}
    </FormDialog>
  );
}
