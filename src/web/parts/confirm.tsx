/** A dialog that asks before an action that cannot simply be undone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../state/action.ts';
import { FormDialog, TextField } from './form.tsx';

/**
 * @param action the label of the confirm button
 * @param confirmWord a word that the person has to type first
 * @param onConfirm performs the action; the dialog closes when it succeeds
 */
export function Confirm(props: {
  title: string;
  action: string;
  confirmWord?: string;
  canConfirm?: boolean;
  children: ComponentChildren;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { title, action, confirmWord, canConfirm = true, children, onClose } = props;
  const [typedWord, setWord] = useState('');
  const running = useAction();
  const send = (): void => {
    void running.run(async () => {
      await props.onConfirm();
      onClose();
    });
  };
  return (
    <FormDialog
      title={title}
      write={running}
      action={action}
      canSubmit={canConfirm && (confirmWord === undefined || typedWord === confirmWord)}
      onSubmit={send}
      onClose={onClose}
    >
      {children}
      {confirmWord !== undefined && (
        <TextField label={`Type ${confirmWord} to go on`} value={typedWord} autocomplete="off" onInput={setWord} />
      )}
    </FormDialog>
  );
}
