/** Messages per day as small bars. */
import { plural } from '../parts/number.ts';

const STEP = 6;
const BAR = 4;
const HEIGHT = 20;

/** @param days messages of each day, the oldest first */
export function Sparkline({ days }: { days: readonly number[] }) {
  const max = Math.max(...days, 1);
  const total = days.reduce((sum, day) => sum + day, 0);
  const width = days.length * STEP;
  const label =
    total === 0
      ? `No messages in ${days.length} days`
      : `${plural(total, 'message')} in ${days.length} days, ${days.at(-1)} today`;
  if (days.length === 0) return <span class="spk" />;
  return (
    <svg class="spk" viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={label}>
      {days.map((day, index) => {
        // Square root, so that one busy day does not flatten the others. At least 2 px for one message.
        const height = day === 0 ? 1 : Math.max(2, Math.round(Math.sqrt(day / max) * (HEIGHT - 2)));
        return <rect key={index} x={index * STEP} y={HEIGHT - height} width={BAR} height={height} rx="1" />;
      })}
    </svg>
  );
}
