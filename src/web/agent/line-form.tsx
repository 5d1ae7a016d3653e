/** The form in which an owner says what their agent works on, or pauses it. */
import { HOUR } from '../../contract/durations.ts';
import type { Member } from '../../contract/types.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Select } from '../parts/select.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { serverTime } from '../state/clock.ts';
import { useStored } from '../state/storage.ts';

const MAX_LENGTH = 120;
/** In hours. */
const pauses = [
  ['0', 'working on it'],
  ['1', 'paused for 1 hour'],
  ['4', 'paused for 4 hours'],
  ['24', 'paused for 1 day'],
  ['168', 'paused for 1 week'],
] as const;

export function LineForm({ member, onClose, onChange }: { member: Member; onClose: () => void; onChange: () => void }) {
  const [draft, setDraft, close] = useStored(
    `line:${member.id}`,
    { text: member.line?.text ?? '', pause: '0' },
    onClose,
  );
  const { text, pause } = draft;
  const action = useAction();
  const params = { board: member.board, member: member.id };
  const end = (): void => {
    onChange();
    close();
  };
  const send = (): void => {
    void action.run(async () => {
      const until = new Date(serverTime() + Number(pause) * HOUR).toISOString();
      const body = pause !== '0' ? { kind: 'paused' as const, text, until } : { kind: 'working' as const, text };
      await write('setAgentLine', { params, body });
      end();
    });
  };
  const clear = (): void =>
    void action.run(async () => {
      await write('clearAgentLine', { params });
      end();
    });
  return (
    <FormDialog
      title={`What ${member.name} is on`}
      write={action}
      action="Save"
      canSubmit={text.trim() !== ''}
      aside={
        member.line && (
          <button type="button" class="b" aria-disabled={action.busy} onClick={clear}>
            Clear it
          </button>
        )
      }
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <TextField
        label="In one line"
        required
        maxLength={MAX_LENGTH}
        value={text}
        onInput={(text) => setDraft({ ...draft, text })}
      />
      <label>
        It is
        <Select class="in" value={pause} options={pauses} onChange={(next) => setDraft({ ...draft, pause: next })} />
      </label>
      <p class="q2">Everyone on the board sees it. The agent itself may change it.</p>
    </FormDialog>
  );
}
