/** The delivery mode of an agent; its owner can change it. */
import type { DeliveryMode, Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { errorText } from '../api/errors.ts';
import { Select } from '../parts/select.tsx';
import { useWrite } from '../state/write.ts';
import { modeNames, modes } from './waking.ts';

export function Delivery({ member, own, onChange }: { member: Member; own: boolean; onChange: () => void }) {
  const { error, run } = useWrite();
  const mode = member.delivery_mode ?? 'focused';
  if (!own) return <span class="q2 mode">{modes[mode].name}</span>;
  const set = (next: DeliveryMode): void =>
    void run(`mode ${next}`, async (key) => {
      const params = { board: member.board, member: member.id };
      await call('setDeliveryMode', { params, body: { mode: next }, idempotencyKey: key });
      onChange();
    });
  return (
    <>
      <Select
        label={`Delivery to ${member.name}`}
        value={mode}
        options={modeNames.map((name) => [name, modes[name].name] as const)}
        onChange={set}
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
