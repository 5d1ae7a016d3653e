/** The fields of an ask: recipient, task, options, and what happens without an answer. */
import type { Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { useLoad } from '../state/load.ts';
import type { AskDraft } from './draft.ts';

const MAX_OPTIONS = 4;
const delays: [minutes: number, words: string][] = [
  [15, 'in 15 min'],
  [30, 'in 30 min'],
  [60, 'in 1 h'],
  [240, 'in 4 h'],
  [1440, 'in 1 day'],
];

export default function AskForm(props: {
  ask: AskDraft;
  others: readonly Member[];
  board: string;
  change: (change: Partial<AskDraft>) => void;
}) {
  const { ask, others, board, change } = props;
  const { value } = useLoad(() => call('listTasks', { params: { board }, query: { limit: 200 } }), [board]);
  // On an error the field is left out.
  const tasks = value?.tasks ?? [];
  const setOption = (index: number, text: string): void =>
    change({ options: ask.options.map((option, at) => (at === index ? text : option)) });
  const removeOption = (index: number): void =>
    change({ options: ask.options.filter((_, at) => at !== index), goingWith: null });
  return (
    <fieldset class="askf">
      <legend class="vh">Question</legend>
      <div class="askf-row">
        <div class="askf-field">
          <label for="ask-ask">Ask</label>
          <select
            id="ask-ask"
            class="in"
            value={ask.to}
            onChange={({ currentTarget }) => change({ to: currentTarget.value })}
          >
            <option value="">Choose who</option>
            {others.map(({ id, name, kind, owner }) => (
              <option key={id} value={name}>
                {kind === 'agent' ? `${name}, ${owner}’s agent` : name}
              </option>
            ))}
          </select>
        </div>
        {tasks.length > 0 && (
          <div class="askf-field">
            <label for="ask-task">Task</label>
            <select
              id="ask-task"
              class="in"
              value={ask.task}
              onChange={({ currentTarget }) => change({ task: currentTarget.value })}
            >
              <option value="">None</option>
              {tasks.map(({ ref, title }) => (
                <option key={ref} value={ref}>
                  {ref} {title}
                </option>
              ))}
            </select>
          </div>
        )}
      </div>
      <div class="askf-options">
        {ask.options.map((option, index) => (
          <div class="askf-option" key={index}>
            <span class="askf-key" aria-hidden="true">
              {index + 1}
            </span>
            <input
              class="in"
              aria-label={`Option ${index + 1}`}
              placeholder={index === 0 ? 'An answer to choose' : ''}
              maxLength={80}
              value={option}
              onInput={({ currentTarget }) => setOption(index, currentTarget.value)}
            />
            {ask.options.length > 2 && (
              <IconButton icon="x" label={`Remove option ${index + 1}`} small onClick={() => removeOption(index)} />
            )}
          </div>
        ))}
        {ask.options.length < MAX_OPTIONS && (
          <button type="button" class="b bare t28" onClick={() => change({ options: [...ask.options, ''] })}>
            <Icon name="plus" />
            Add an option
          </button>
        )}
      </div>
      <WithoutAnswer ask={ask} change={change} />
    </fieldset>
  );
}

function WithoutAnswer({ ask, change }: { ask: AskDraft; change: (change: Partial<AskDraft>) => void }) {
  const filled = ask.options.map((option, index) => ({ option: option.trim(), index })).filter(({ option }) => option);
  return (
    <div class="askf-row">
      <div class="askf-field">
        <label for="ask-until">Until it is answered</label>
        <select
          id="ask-until"
          class="in"
          value={ask.goingWith === null ? '' : String(ask.goingWith)}
          onChange={({ currentTarget: { value } }) => change({ goingWith: value === '' ? null : Number(value) })}
        >
          <option value="">{ask.task ? `${ask.task} is blocked` : 'You wait'}</option>
          {filled.map(({ option, index }) => (
            <option key={index} value={String(index)}>
              You go with {option}
            </option>
          ))}
        </select>
      </div>
      {ask.goingWith !== null && (
        <div class="askf-field">
          <label for="ask-when">When</label>
          <select
            id="ask-when"
            class="in"
            value={String(ask.minutes)}
            onChange={({ currentTarget }) => change({ minutes: Number(currentTarget.value) })}
          >
            {delays.map(([minutes, words]) => (
              <option key={minutes} value={String(minutes)}>
                {words}
              </option>
            ))}
          </select>
        </div>
      )}
    </div>
  );
}
