/** The settings for what the person's agents may do without asking, with their history. */
import { write } from '../state/attempts.ts';
import './inbox.css';
import { useEffect } from 'preact/hooks';
import type { Answer, Category } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatExact } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { useLoad } from '../state/load.ts';

type Allowance = Answer<'getAllowance'>;
type Revision = Answer<'listAllowanceRevisions'>['revisions'][number];

const categories: Record<Category, { name: string; description: string; noEffect: string }> = {
  add_people: {
    name: 'Add people of this server to boards',
    description: 'Your agents may bring any member onto any board you are on. Anyone who comes reads everything there.',
    noEffect: 'the server’s settings let no agent add people',
  },
  invite_people: {
    name: 'Invite new people to this server',
    description: 'Your agents may make invite links, at most 20 a day. Anyone who opens one can read every open board.',
    noEffect: 'you are no admin of this server',
  },
};

const withWords: Record<Revision['changed_by']['with'], string> = {
  key: 'with a key',
  browser: 'in a browser',
  server: 'by the server',
};

export default function AllowanceScreen() {
  const guest = session.value?.person.server_role === 'guest';
  return (
    <main class="page" id="main">
      <div class="col">
        <h1>What your agents may do without asking</h1>
        <p class="q2 lead">
          {guest
            ? 'As a guest you have no allowance: your agents ask nobody to bring people in.'
            : 'Everything else waits for you in Needs you. What you turn off stays done where it was done.'}
        </p>
        {!guest && <Allowances />}
      </div>
    </main>
  );
}

const readAllowance = async (): Promise<{ allowance: Allowance; revisions: Revision[] }> => ({
  allowance: await call('getAllowance'),
  revisions: await readAll('listAllowanceRevisions', 'revisions', { query: { limit: 100 } }),
});

function Allowances() {
  const { value, error, reload, set: setValue } = useLoad(readAllowance);
  const action = useAction();
  useEffect(
    () =>
      listenToHints(({ event }) => {
        if (event === 'allowance') void reload();
      }),
    [],
  );
  useEffect(() => listenToReturn(() => void reload()), []);
  if (!value) return <ProblemLine error={error} onRetry={reload} />;
  const { allowance, revisions } = value;
  const change = async (said: string, send: () => Promise<Allowance>): Promise<void> => {
    const done = await action.run(async () => {
      try {
        setValue({ allowance: await send(), revisions });
      } catch (reason) {
        // Changed elsewhere meanwhile: shows the current state.
        if (hasCode(reason, 'allowance_changed')) await reload();
        throw reason;
      }
    });
    if (!done) return;
    announce(said);
    void reload();
  };
  const set = (category: Category, on: boolean): void => {
    const next = allowance.categories.filter((each) => each !== category).concat(on ? [category] : []);
    void change(on ? 'Allowed' : 'No longer allowed', () =>
      write('setAllowance', { body: { categories: next, revision: allowance.revision } }),
    );
  };
  return (
    <>
      <ul class="list switches">
        {(Object.keys(categories) as Category[]).map((category) => {
          const on = allowance.categories.includes(category);
          return (
            <li key={category}>
              <label>
                <input
                  type="checkbox"
                  checked={on}
                  aria-describedby={`means-${category}`}
                  onChange={(event) => {
                    const { checked } = event.currentTarget;
                    // The checkbox shows the server's state until the change is saved.
                    event.currentTarget.checked = on;
                    if (!action.busy) set(category, checked);
                  }}
                />
                <span>
                  <b>{categories[category].name}</b>
                  <span class="q2" id={`means-${category}`}>
                    {categories[category].description}
                    {on &&
                      !allowance.effective.includes(category) &&
                      ` It has no effect now: ${categories[category].noEffect}.`}
                  </span>
                </span>
              </label>
            </li>
          );
        })}
      </ul>
      <ProblemLine error={action.error} />
      {allowance.warning && (
        <div class="warn">
          <p>{allowance.warning}</p>
        </div>
      )}
      <p class="clear">
        <button
          type="button"
          class="b"
          aria-disabled={allowance.categories.length === 0 || undefined}
          onClick={() => {
            if (allowance.categories.length > 0)
              void change('Your agents ask for everything now', () => write('clearAllowance', {}));
          }}
        >
          Let them ask for everything
        </button>
      </p>
      <h2>Changes</h2>
      {revisions.length === 0 && <p class="q2">It was never changed: your agents ask for everything.</p>}
      <ol class="list">
        {revisions.map(({ revision, categories: then, changed_at, changed_by }) => (
          <li class="rev" key={revision}>
            <span class="num">{revision}</span>
            <span class="sp">
              {then.length === 0 ? 'Nothing without asking' : then.map((each) => categories[each].name).join('; ')}
            </span>
            <span class="q2">
              {formatExact(changed_at)},{' '}
              {changed_by.approval_id ? 'as you decided a request' : withWords[changed_by.with]}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
