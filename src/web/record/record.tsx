/** The Record tab: the verification in this browser, activity by day, and all events. */
import './record.css';
import { useState } from 'preact/hooks';
import type { TabProps } from '../board/tab-props.ts';
import { Activity } from './activity.tsx';
import { Log } from './log.tsx';
import { useVerdict } from './use-verdict.ts';
import { VerdictPanel } from './verdict.tsx';

export default function RecordTab({ here, room }: TabProps) {
  const [tries, setTries] = useState(0);
  const verdict = useVerdict(room, tries);
  return (
    <div class="page record">
      <div class="col wide">
        <h2 class="vh">Record</h2>
        <VerdictPanel verdict={verdict} board={room.name} onRetry={() => setTries(tries + 1)} />
        {!verdict.error && <Activity counts={verdict.counts} />}
        <Log key={room.name} here={here} room={room} verdict={verdict} />
      </div>
    </div>
  );
}
