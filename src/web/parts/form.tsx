/** A form in a dialog, with the error of its write and its buttons, and its fields of text. */
import type { ComponentChildren, TextareaHTMLAttributes } from 'preact';
import type { Running } from '../state/action.ts';
import { Dialog } from './dialog.tsx';
import { ProblemLine } from './problem.tsx';
import './form.css';

interface FormProps {
  title: string;
  /** Shows its error and disables the submit button while it runs. */
  write: Running;
  /** The label of the submit button. */
  action: string;
  /** `Cancel` by default. */
  cancelLabel?: string;
  canSubmit?: boolean;
  wide?: boolean;
  /** A button left of the others. */
  aside?: ComponentChildren;
  children: ComponentChildren;
  onSubmit: () => void;
  /** Closes it by Escape or a click beside it, which may be slips: what was typed should be there again. */
  onClose: () => void;
  /** Closes it by its button. `onClose` by default. */
  onCancel?: () => void;
}

export function FormDialog(props: FormProps) {
  const {
    title,
    write,
    action,
    cancelLabel = 'Cancel',
    canSubmit = true,
    wide = false,
    aside,
    children,
    onSubmit,
    onClose,
    onCancel = onClose,
  } = props;
  const submit = (event: Event): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog label={title} class={wide ? 'form broad' : 'form'} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <ProblemLine error={write.error} />
        <div class="row w end">
          {aside}
          <button type="button" class="b" onClick={onCancel}>
            {cancelLabel}
          </button>
          <button type="submit" class="b pri" disabled={!canSubmit} aria-disabled={write.busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type TextProps = Omit<TextareaHTMLAttributes, 'onInput'> & {
  label: string;
  /** What stands beside the label. */
  note?: string;
  list?: string;
  pattern?: string;
  onInput: (text: string) => void;
};

/** A text under its label, of several lines with `rows`. @param children what stands below it */
export function TextField({ label, note, onInput, children, ...rest }: TextProps) {
  const Field = (rest.rows ? 'textarea' : 'input') as 'textarea';
  return (
    <label>
      {note ? (
        <span>
          {label} <span class="q">{note}</span>
        </span>
      ) : (
        label
      )}
      <Field class="in" onInput={(event) => onInput(event.currentTarget.value)} {...rest} />
      {children}
    </label>
  );
}
