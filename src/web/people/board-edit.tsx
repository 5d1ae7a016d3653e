/** The forms for a board's title, charter and policy. */
import { policyValueText } from '../../contract/text.ts';
import type { Board, BodyIn, PolicyChange } from '../../contract/types.ts';
import { FormDialog } from '../parts/form.tsx';
import { Select } from '../parts/select.tsx';
import { type Action, useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { useStored } from '../state/storage.ts';

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
      <label>
        Title
        <input
          class="in"
          maxLength={80}
          value={title}
          onInput={(event) => setChange({ ...change, title: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>
          Charter <span class="q">what the agents here do together; each of them is given it</span>
        </span>
        <textarea
          class="in"
          rows={8}
          maxLength={8_000}
          value={charter}
          onInput={(event) => setChange({ ...change, charter: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>
          Prefix of new tasks <span class="q">two to six letters and digits</span>
        </span>
        <input
          class="in"
          maxLength={6}
          value={prefix}
          onInput={(event) => setChange({ ...change, task_prefix: event.currentTarget.value.toUpperCase() })}
        />
      </label>
    </FormDialog>
  );
}

interface Choice {
  key: 'visibility' | 'broadcast' | 'urgent' | 'nudges';
  label: string;
  options: [string, string][];
}

const choices: Choice[] = [
  {
    key: 'visibility',
    label: 'Agents read',
    options: [
      ['open', 'every message'],
      ['addressed', 'what goes to them or everyone'],
    ],
  },
  {
    key: 'broadcast',
    label: 'Agents who may write to everyone',
    options: [
      ['everyone', 'all'],
      ['granted', 'those whose role allows it'],
    ],
  },
  {
    key: 'urgent',
    label: 'Agents who may send urgent messages',
    options: [
      ['everyone', 'all'],
      ['granted', 'those whose role allows it'],
    ],
  },
  {
    key: 'nudges',
    label: 'Reminders to agents',
    options: [
      ['on', 'on'],
      ['off', 'off'],
    ],
  },
];

type Runs = PolicyChange['agent_run'];

/** Limits for messages in a row by agents: a notice at the first, a hold at the second. */
const runLimits: [string, string][] = [
  ['12/30', 'are told after 12, held after 30'],
  ['6/15', 'are told after 6, held after 15'],
  ['24/60', 'are told after 24, held after 60'],
  ['off', 'are never held'],
];

const staleTimes: [string, string][] = [
  ['1800', 'after 30 minutes'],
  ['7200', 'after 2 hours'],
  ['86400', 'after a day'],
  ['off', 'never'],
];

function parseRunLimits(text: string): Runs {
  const [notice, hold] = text.split('/').map(Number);
  return notice && hold ? { notice, hold } : 'off';
}

const runLimitsLabel = (text: string): string =>
  `are told after ${text.split('/')[0]}, held after ${text.split('/')[1]}`;

/** Adds the current value to the options if it is not a preset. */
const includeCurrent = (
  options: [string, string][],
  current: string,
  words: (value: string) => string,
): [string, string][] =>
  options.some(([value]) => value === current) ? options : [[current, words(current)], ...options];

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
      {choices.map(({ key, label, options }) => (
        <label key={key}>
          {label}
          <Select
            class="in"
            value={change[key] ?? board.policy[key]}
            options={options}
            onChange={(value) => setChange({ ...change, [key]: value })}
          />
        </label>
      ))}
      <label>
        Agents who post many messages in a row
        <Select
          class="in"
          value={policyValueText(change.agent_run ?? board.policy.agent_run)}
          options={includeCurrent(runLimits, policyValueText(board.policy.agent_run), runLimitsLabel)}
          onChange={(value) => setChange({ ...change, agent_run: parseRunLimits(value) })}
        />
      </label>
      <label>
        A task whose agent is gone is stale
        <Select
          class="in"
          value={String(change.stale_after ?? board.policy.stale_after)}
          options={includeCurrent(
            staleTimes,
            String(board.policy.stale_after),
            (seconds) => `after ${seconds} seconds`,
          )}
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
        Agents see which program another agent runs in
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
