/**
 * A text of a task: its status (`stands`) or description (`about`), with earlier versions and an editor that detects
 * conflicts.
 */
import { useState } from 'preact/hooks';
import type { Answer, Task } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { ago, Time } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { isFocusLost } from '../state/focus.ts';
import { ownName, readStorage, useStored } from '../state/storage.ts';

type Field = 'stands' | 'about';
type Versions = Answer<'listTaskTexts'>['versions'];

const titles: Record<Field, string> = { stands: 'Where it stands', about: 'What and why' };
const maxLengths: Record<Field, number> = { stands: 2_000, about: 4_000 };

/** An unsaved text. Stored in this browser until it is saved or cancelled. */
interface Draft {
  text: string;
  /** The version that it is based on, or the newer one that the person chose to overwrite. */
  base: number;
}

const draftName = (task: Task, field: Field): string => `text:${task.id}:${field}`;

export function TextSection(props: { task: Task; field: Field; writable: boolean; onChange: (task: Task) => void }) {
  const { task, field, writable, onChange } = props;
  const [editing, setEditing] = useState(() => writable && readStorage(ownName(draftName(task, field))) !== null);
  const [versions, setVersions] = useState<Versions | null>(null);
  const reading = useAction();
  const current = task[field];
  if (!current && !writable) return null;
  const id = `${field}-${task.ref}`;
  const history = (): void => {
    if (versions) setVersions(null);
    else
      void reading.run(async () => {
        const query = { field, limit: 200 };
        const page = await call('listTaskTexts', { params: { board: task.board, task: task.id }, query });
        setVersions(page.versions);
      });
  };
  return (
    <section class="ps" aria-labelledby={id}>
      <h3 class="row">
        <span id={id}>{titles[field]}</span>
        {current && (
          <span class="q">
            {current.by.name}, {ago(current.at)}
          </span>
        )}
        {current && current.version > 1 ? (
          <button type="button" class="link q" aria-expanded={versions !== null} onClick={history}>
            v{current.version}
            <span class="vh"> and earlier versions</span>
          </button>
        ) : (
          current && <span class="q">v1</span>
        )}
        <span class="sp" />
        {writable && !editing && (
          <button type="button" class="b bare t28" onClick={() => setEditing(true)}>
            {current ? 'Edit' : 'Write'}
            <span class="vh"> {titles[field].toLowerCase()}</span>
          </button>
        )}
      </h3>
      {editing ? (
        <Editor
          {...props}
          onClose={(next) => {
            setEditing(false);
            setVersions(null);
            if (next) onChange(next);
          }}
        />
      ) : current?.text ? (
        <Markdown text={current.text} />
      ) : (
        <p class="q2">{field === 'stands' ? 'Nobody has said yet.' : 'Nothing was written.'}</p>
      )}
      <ProblemLine error={reading.error} />
      {versions && (
        <ol class="texts" aria-label={`Earlier versions of ${titles[field].toLowerCase()}`}>
          {versions
            .filter(({ version }) => version !== current?.version)
            .map(({ version, by, at, text }) => (
              <li key={version}>
                <span class="q sm">
                  v{version}, {by.name}, <Time at={at} relative />
                </span>
                <Markdown text={text || '(empty)'} />
              </li>
            ))}
        </ol>
      )}
    </section>
  );
}

/** @param onClose called with the saved task, or null */
function Editor(props: {
  task: Task;
  field: Field;
  onChange: (task: Task) => void;
  onClose: (next: Task | null) => void;
}) {
  const { task, field, onChange } = props;
  const [{ text, base }, change, drop] = useStored<Draft>(draftName(task, field), {
    text: task[field]?.text ?? '',
    base: task[field]?.version ?? 0,
  });
  const close = (next: Task | null): void => {
    drop();
    props.onClose(next);
  };
  const { busy, error, run } = useAction();
  const params = { board: task.board, task: task.id };
  const newer = (task[field]?.version ?? 0) > base ? task[field] : null;
  const save = (event: Event): void => {
    event.preventDefault();
    if (newer) return;
    void run(async () => {
      try {
        const body = field === 'stands' ? { stands: text, stands_base: base } : { about: text };
        close(await write('updateTask', { params, body }));
      } catch (refusal) {
        if (hasCode(refusal, 'stands_changed')) onChange(await call('getTask', { params }));
        throw refusal;
      }
    });
  };
  return (
    <form class="edit" onSubmit={save}>
      {newer && (
        <div class="newer" role="status">
          <b>
            {newer.by.name} wrote v{newer.version} meanwhile:
          </b>
          <Markdown text={newer.text} />
          <button type="button" class="b" onClick={() => change({ text, base: newer.version })}>
            Write over it
          </button>
        </div>
      )}
      <textarea
        class="in"
        rows={5}
        aria-label={titles[field]}
        maxLength={maxLengths[field]}
        required={field === 'stands'}
        value={text}
        ref={(element) => {
          if (element && isFocusLost()) element.focus();
        }}
        readOnly={busy}
        onInput={(event) => change({ text: event.currentTarget.value, base })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
      <ProblemLine error={error} />
      <div class="row">
        <button type="submit" class="b pri" aria-disabled={busy || newer !== null}>
          Save
        </button>
        <button type="button" class="b" onClick={() => close(null)}>
          Cancel
        </button>
      </div>
    </form>
  );
}
