/** The forms for a board's title, charter and policy. */
import type { Board, BodyIn, PolicyChange } from '../../contract/types.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Select } from '../parts/select.tsx';
import { type Action, useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { useStored } from '../state/storage.ts';
import { optionsOf, settings, valueText } from './policy-words.ts';

export interface EditProps {
  board: Board;
  onClose: () => void;
  onChange: () => void;
}

/** Saves changed fields of a board. Without changes it only closes the form. */
export function save(
  { board, onClose, onChange }: EditProps,
  { run }: Action,
  change: NonNullable<BodyIn<'updateBoard'>>,
): void {
  if (Object.keys(change).length === 0) {
    onClose();
    return;
  }
  void run(async () => {
    await write('updateBoard', { params: { board: board.name }, body: change });
    onChange();
    onClose();
  });
}

type Basics = Pick<NonNullable<BodyIn<'updateBoard'>>, 'title' | 'charter' | 'task_prefix'>;

export function EditBasics(props: EditProps) {
  const { board, onClose } = props;
  const [change, setChange, close] = useStored<Basics>(`basics:${board.id}`, {}, onClose);
  const { title = board.title ?? '', charter = board.charter, task_prefix: prefix = board.task_prefix ?? '' } = change;
  const action = useAction();
  const send = (): void => {
    save({ ...props, onClose: close }, action, {
      ...(title.trim() === (board.title ?? '') ? {} : { title }),
      ...(charter === board.charter ? {} : { charter }),
      ...(prefix === (board.task_prefix ?? '') ? {} : { task_prefix: prefix }),
    });
  };
  return (
    <FormDialog
      title="Title and charter"
      write={action}
      action="Save"
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <TextField label="Title" maxLength={80} value={title} onInput={(title) => setChange({ ...change, title })} />
      <TextField
        label="Charter"
        note="what the agents here do together; each of them is given it"
        rows={8}
        maxLength={8_000}
        value={charter}
        onInput={(charter) => setChange({ ...change, charter })}
      />
      <TextField
        label="Prefix of new tasks"
        note="two to six letters and digits"
        maxLength={6}
        value={prefix}
        onInput={(text) => setChange({ ...change, task_prefix: text.toUpperCase() })}
      />
    </FormDialog>
  );
}

const choices = ['visibility', 'broadcast', 'urgent', 'nudges'] as const;

type Runs = PolicyChange['agent_run'];

function parseRunLimits(text: string): Runs {
  const [notice, hold] = text.split('/').map(Number);
  return notice && hold ? { notice, hold } : 'off';
}

export function EditPolicy(props: EditProps) {
  const { board } = props;
  // It holds no text that could be lost by a slip, so each way of closing it drops what was chosen.
  const [edited, setEdited, onClose] = useStored<{ change: PolicyChange; adds?: boolean }>(
    `policy:${board.id}`,
    { change: {} },
    props.onClose,
  );
  const { change, adds = board.agents_add_people } = edited;
  const setChange = (next: PolicyChange): void => setEdited({ ...edited, change: next });
  const action = useAction();
  const send = (): void => {
    const policy = Object.fromEntries(
      Object.entries(change).filter(
        ([key, value]) => JSON.stringify(board.policy[key as keyof PolicyChange]) !== JSON.stringify(value),
      ),
    ) as PolicyChange;
    save({ ...props, onClose }, action, {
      ...(Object.keys(policy).length === 0 ? {} : { policy }),
      ...(adds === board.agents_add_people ? {} : { agents_add_people: adds }),
    });
  };
  const widens = change.visibility === 'open' && board.policy.visibility === 'addressed';
  return (
    <FormDialog title="Policy for agents" write={action} action="Save" onSubmit={send} onClose={onClose}>
      {choices.map((key) => (
        <label key={key}>
          {settings[key].label}
          <Select
            class="in"
            value={change[key] ?? board.policy[key]}
            options={optionsOf(key, board.policy[key])}
            onChange={(value) => setChange({ ...change, [key]: value })}
          />
        </label>
      ))}
      <label>
        {settings.agent_run.label}
        <Select
          class="in"
          value={valueText(change.agent_run ?? board.policy.agent_run)}
          options={optionsOf('agent_run', board.policy.agent_run)}
          onChange={(value) => setChange({ ...change, agent_run: parseRunLimits(value) })}
        />
      </label>
      <label>
        {settings.stale_after.label}
        <Select
          class="in"
          value={valueText(change.stale_after ?? board.policy.stale_after)}
          options={optionsOf('stale_after', board.policy.stale_after)}
          onChange={(value) => setChange({ ...change, stale_after: value === 'off' ? 'off' : Number(value) })}
        />
      </label>
      {widens && <p>Agents will at once be able to read everything that was written here so far.</p>}
      <label class="check">
        <input
          type="checkbox"
          checked={change.show_harness ?? board.policy.show_harness}
          onChange={(event) => setChange({ ...change, show_harness: event.currentTarget.checked })}
        />
        {settings.show_harness.label}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={adds}
          onChange={(event) => setEdited({ ...edited, adds: event.currentTarget.checked })}
        />
        Agents may add people, where their role and the server allow it
      </label>
    </FormDialog>
  );
}
