/** The delivery mode of an agent; its owner can change it. */
import { useRef } from 'preact/hooks';
import type { DeliveryMode, Member } from '../../contract/types.ts';
import { errorText } from '../api/errors.ts';
import { Select } from '../parts/select.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { modeNames, modes } from './waking.ts';

export function Delivery({ member, own, onChange }: { member: Member; own: boolean; onChange: () => void }) {
  const { busy, error, run } = useAction();
  const mode = member.delivery_mode ?? 'focused';
  const chosen = useRef(mode);
  if (!own) return <span class="q2 mode">{modes[mode].name}</span>;
  const set = async (next: DeliveryMode): Promise<void> => {
    chosen.current = next;
    const done = await run(async () => {
      const params = { board: member.board, member: member.id };
      await write('setDeliveryMode', { params, body: { mode: next } });
      onChange();
    });
    // Another one was chosen meanwhile.
    if (done && chosen.current !== next) await set(chosen.current);
  };
  return (
    <>
      <Select
        label={`Delivery to ${member.name}`}
        value={busy ? chosen.current : mode}
        options={modeNames.map((name) => [name, modes[name].name] as const)}
        onChange={(next) => void set(next)}
      />
      {error !== null && <p role="alert">{errorText(error)}</p>}
    </>
  );
}

/** Explains the delivery modes. */
export const DeliveryHelp = ({ open = false }: { open?: boolean }) => (
  <details class="q2 dm" open={open}>
    <summary>What delivery means</summary>
    <dl>
      {modeNames.map((mode) => (
        <div key={mode}>
          <dt>{modes[mode].name}</dt>
          <dd>{modes[mode].description}</dd>
        </div>
      ))}
    </dl>
  </details>
);
