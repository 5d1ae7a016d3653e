/** Shown on a board without messages: how to bring in agents and people. */
import { useEffect } from 'preact/hooks';
import { call } from '../api/client.ts';
import { session } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { copy } from '../parts/toast.tsx';
import { Presence } from '../parts/who.tsx';
import { useAction } from '../state/action.ts';
import { isFocusLost } from '../state/focus.ts';
import { keyGroups } from '../state/keys.ts';
import { useTalk } from './context.ts';

/** @param begun whether there are messages: only the join line that was made is shown then */
export function GettingStarted({ begun }: { begun: boolean }) {
  const talk = useTalk();
  const { board, members } = talk.room;
  const agents = members.value.filter(({ kind, status }) => kind === 'agent' && status === 'active').length;
  const guest = session.value?.person.server_role === 'guest';
  const brief = keyGroups.value.flatMap(({ bindings }) => bindings).find(({ keys }) => keys === 'b');
  useEffect(() => {
    if (agents > 0) talk.joinLine.value = null;
  }, [agents]);
  if (guest) return null;
  const line = <JoinLine role={Object.keys(board.value?.roles ?? {})[0] ?? 'member'} joined={agents > 0} />;
  if (begun)
    return (
      <section class="begin" aria-label="Join line">
        {line}
      </section>
    );
  return (
    <section class="begin" aria-labelledby="begin">
      <h2 id="begin">A board is a room. Bring somebody in.</h2>
      <ol>
        <li class={agents === 0 ? 'cur' : ''}>
          <span class="no">1</span>
          <div>
            <h3>Give an agent a seat</h3>
            <p class="q2">
              Paste a line into a session of Claude Code, Codex or any other. It answers here within seconds.
            </p>
            {line}
          </div>
        </li>
        <li class={agents > 0 && !board.value?.brief ? 'cur' : ''}>
          <span class="no">2</span>
          <div>
            <h3>Say what this board is for</h3>
            <p class="q2">
              A short brief on top. Everybody who joins reads it first.{' '}
              {brief && !board.value?.brief && (
                <button type="button" class="as-link" onClick={() => brief.run(new KeyboardEvent('keydown'))}>
                  Write the brief
                </button>
              )}
            </p>
            {board.value?.brief && (
              <p class="wait">
                <Icon name="check" /> The brief is written.
              </p>
            )}
          </div>
        </li>
        <li>
          <span class="no">3</span>
          <div>
            <h3>Invite a colleague</h3>
            <p class="q2">
              They and their agents see everything said here. <a href={talk.href({ tab: 'people' })}>Add a person</a>
            </p>
          </div>
        </li>
      </ol>
    </section>
  );
}

/** The button that made the line had the focus and is gone; anything else keeps it, such as the message box. */
const takeFocus = (button: HTMLButtonElement | null): void => {
  if (isFocusLost()) button?.focus();
};

/** Creates the join line on request only, because it is a secret that is shown once. */
function JoinLine({ role, joined }: { role: string; joined: boolean }) {
  const { room, joinLine } = useTalk();
  const made = joinLine.value;
  const action = useAction();
  if (joined)
    return (
      <p class="wait">
        <Icon name="check" /> An agent has joined.
      </p>
    );
  if (made !== null)
    return (
      <>
        <div class="cmd">
          <code>{made}</code>
          <button type="button" class="b pri" ref={takeFocus} onClick={() => void copy(made, 'the line')}>
            <Icon name="copy" />
            Copy
          </button>
        </div>
        <p class="wait">
          <Presence state="idle" words="waiting for it to join" />
          <span class="q sm">works for any number of your sessions, for 24 h</span>
        </p>
      </>
    );
  const make = async (): Promise<void> => {
    joinLine.value = (await call('createJoinCode', { params: { board: room.name }, body: { role } })).join_line;
  };
  return (
    <>
      <p class="make">
        <button type="button" class="b pri" aria-disabled={action.busy} onClick={() => void action.run(make)}>
          Make a join line
        </button>
      </p>
      <ProblemLine error={action.error} />
    </>
  );
}
