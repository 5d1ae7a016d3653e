/** A form in a dialog: its title, its fields, why the write was refused, and the ways out. */
import type { ComponentChildren } from 'preact';
import type { Write } from '../state/write.ts';
import { Dialog } from './dialog.tsx';
import { ProblemLine } from './problem.tsx';
import './form.css';

interface FormProps {
  title: string;
  /** The write whose error is shown, and which the action waits for. */
  write: Write;
  /** What the button that sends the form says. */
  action: string;
  /** What the button that only closes it says. */
  back?: string;
  /** Whether the fields can be sent. */
  ready?: boolean;
  broad?: boolean;
  /** A button before the others. */
  aside?: ComponentChildren;
  children: ComponentChildren;
  send: () => void;
  close: () => void;
}

export function FormDialog(props: FormProps) {
  const { title, write, action, back = 'Cancel', ready = true, broad = false, aside, children, send, close } = props;
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  return (
    <Dialog label={title} class={broad ? 'form broad' : 'form'} close={close}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <ProblemLine error={write.error} />
        <div class="row w end">
          {aside}
          <button type="button" class="b" onClick={close}>
            {back}
          </button>
          <button type="submit" class="b pri" disabled={write.busy || !ready}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
