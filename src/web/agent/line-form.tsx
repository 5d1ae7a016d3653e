/** What an agent is on now, said by its person: work, or a pause until a time. */
import { useState } from 'preact/hooks';
import type { Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { FormDialog } from '../parts/form.tsx';
import { useWrite } from '../state/write.ts';

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
  const write = useWrite();
  const params = { board: member.board, member: member.id };
  const end = (): void => {
    changed();
    close();
  };
  const send = (): void => {
    void write.run(`line ${pause} ${text}`, async (key) => {
      const until = new Date(Date.now() + pause * HOUR).toISOString();
      const body = pause > 0 ? { kind: 'paused' as const, text, until } : { kind: 'working' as const, text };
      await call('setAgentLine', { params, body, idempotencyKey: key });
      end();
    });
  };
  const clear = (): void =>
    void write.run('clear', async (key) => {
      await call('clearAgentLine', { params, idempotencyKey: key });
      end();
    });
  return (
    <FormDialog
      title={`What ${member.name} is on`}
      write={write}
      action="Save"
      ready={text.trim() !== ''}
      aside={
        member.line && (
          <button type="button" class="b" disabled={write.busy} onClick={clear}>
            Clear it
          </button>
        )
      }
      send={send}
      close={close}
    >
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
    </FormDialog>
  );
}
