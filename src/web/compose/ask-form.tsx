/** The fields of an ask: recipient, task, options, and what happens without an answer. */
import type { Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Select } from '../parts/select.tsx';
import { useLoad } from '../state/load.ts';
import type { AskDraft } from './draft.ts';

const MAX_OPTIONS = 4;
const delays: [minutes: string, words: string][] = [
  ['15', 'in 15 min'],
  ['30', 'in 30 min'],
  ['60', 'in 1 h'],
  ['240', 'in 4 h'],
  ['1440', 'in 1 day'],
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
          <Select
            id="ask-ask"
            class="in"
            value={ask.to}
            options={[
              ['', 'Choose who'],
              ...others.map(
                ({ name, kind, owner }) => [name, kind === 'agent' ? `${name}, ${owner}’s agent` : name] as const,
              ),
            ]}
            onChange={(to) => change({ to })}
          />
        </div>
        {tasks.length > 0 && (
          <div class="askf-field">
            <label for="ask-task">Task</label>
            <Select
              id="ask-task"
              class="in"
              value={ask.task}
              options={[['', 'None'], ...tasks.map(({ ref, title }) => [ref, `${ref} ${title}`] as const)]}
              onChange={(task) => change({ task })}
            />
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
        <Select
          id="ask-until"
          class="in"
          value={String(ask.goingWith ?? '')}
          options={[
            ['', ask.task ? `${ask.task} is blocked` : 'You wait'],
            ...filled.map(({ option, index }) => [String(index), `You go with ${option}`] as const),
          ]}
          onChange={(value) => change({ goingWith: value === '' ? null : Number(value) })}
        />
      </div>
      {ask.goingWith !== null && (
        <div class="askf-field">
          <label for="ask-when">When</label>
          <Select
            id="ask-when"
            class="in"
            value={String(ask.minutes)}
            options={delays}
            onChange={(minutes) => change({ minutes: Number(minutes) })}
          />
        </div>
      )}
    </div>
  );
}
