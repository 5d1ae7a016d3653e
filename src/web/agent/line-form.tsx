/** What an agent is on now, said by its person: work, or a pause until a time. */
import { useState } from 'preact/hooks';
import type { Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { useWrite } from '../state/write.ts';
import '../parts/form.css';

const MAX = 120;
const HOUR = 3_600_000;
const pauses = [
  { hours: 1, words: '1 hour' },
  { hours: 4, words: '4 hours' },
  { hours: 24, words: '1 day' },
  { hours: 24 * 7, words: '1 week' },
];

export function LineForm({ member, close, changed }: { member: Member; close: () => void; changed: () => void }) {
  const [text, setText] = useState(member.line?.text ?? '');
  const [pause, setPause] = useState(0);
  const { busy, error, run } = useWrite();
  const params = { board: member.board, member: member.id };
  const end = (): void => {
    changed();
    close();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(`line ${pause} ${text}`, async (key) => {
      const until = new Date(Date.now() + pause * HOUR).toISOString();
      const body = pause > 0 ? { kind: 'paused' as const, text, until } : { kind: 'working' as const, text };
      await call('setAgentLine', { params, body, idempotencyKey: key });
      end();
    });
  };
  const clear = (): void =>
    void run('clear', async (key) => {
      await call('clearAgentLine', { params, idempotencyKey: key });
      end();
    });
  return (
    <Dialog label={`What ${member.name} is on`} class="form" close={close}>
      <form onSubmit={submit}>
        <h2>What {member.name} is on</h2>
        <label>
          In one line
          <input
            class="in"
            required
            maxLength={MAX}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label>
          It is
          <select class="in" value={pause} onChange={(event) => setPause(Number(event.currentTarget.value))}>
            <option value={0}>working on it</option>
            {pauses.map(({ hours, words }) => (
              <option key={hours} value={hours}>
                paused for {words}
              </option>
            ))}
          </select>
        </label>
        <p class="q2">Everyone on the board sees it. The agent itself may change it.</p>
        {error !== null && <ProblemLine error={error} />}
        <div class="row w end">
          {member.line && (
            <button type="button" class="b" disabled={busy} onClick={clear}>
              Clear it
            </button>
          )}
          <button type="button" class="b" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="b pri" disabled={busy || !text.trim()}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
