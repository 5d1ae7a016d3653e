/** The result of the verification. */
import type { ProblemReason } from '../../contract/chain.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { agoPhrase } from '../parts/time.tsx';
import { copy } from '../parts/toast.tsx';
import { hrefOf } from '../state/route.ts';
import type { Verdict } from './use-verdict.ts';

const reasons: Record<ProblemReason, string> = {
  board_mismatch: 'It belongs to another board.',
  seq_gap: 'An event with this number is missing, or another stands in its place.',
  duplicate_id: 'It has the id of an earlier event.',
  prev_hash_mismatch: 'It does not follow the event before it.',
  hash_mismatch: 'Its hash does not fit what it says.',
  payload_unexpected: 'It says that its data is withheld, and has data.',
  payload_missing: 'Its data is missing.',
  data_hash_mismatch: 'Its data is not what was recorded.',
  history_rewritten: 'It is not the event that this browser saw here before.',
  history_lost: 'This browser saw events here that are gone.',
  truncated: 'The record ends before its head.',
};

/** Shortens a digest for display. */
const shortHash = (hash: string): string => {
  const hex = hash.slice('sha256:'.length);
  return `sha256:${hex.slice(0, 4)} ${hex.slice(4, 8)} ${hex.slice(8, 12)} … ${hex.slice(-4)}`;
};

export function VerdictPanel({ verdict, board, onRetry }: { verdict: Verdict; board: string; onRetry: () => void }) {
  const { checked, progress, error, previousHead, checkedAt } = verdict;
  if (error)
    return (
      <ProblemLine error={Object.assign(new Error(`The record could not be checked: ${error.message}`), error)}>
        <button type="button" class="b" onClick={onRetry}>
          Check again
        </button>
      </ProblemLine>
    );
  if (!checked)
    return (
      <section class="ver checking" aria-label="The check of this record" aria-busy="true">
        <Icon name="shield" />
        <div class="sp">
          <h3>Checking the record</h3>
          <p class="q2">
            {progress
              ? `${formatNumber(progress.checked)} of ${formatNumber(progress.head)} events.`
              : 'Reading the first events.'}{' '}
            It is checked in this browser, with nothing but what the server sends.
          </p>
        </div>
      </section>
    );
  const { problem, events, head, withheld } = checked;
  if (problem)
    return (
      <section class="ver badv" aria-label="The check of this record" role="alert">
        <Icon name="block" />
        <div class="sp">
          <h3>The chain breaks at #{formatNumber(problem.seq)}</h3>
          <p class="q2">
            {reasons[problem.reason]}{' '}
            {problem.seq > 1 &&
              `${problem.seq === 2 ? '#1 is as it was.' : `#1 to #${formatNumber(problem.seq - 1)} are as they were.`} `}
            Ask the people on the board to compare heads before you trust anything newer.
          </p>
        </div>
        <a class="b" href={hrefOf({ screen: 'board', board, tab: 'record', event: problem.seq })}>
          Go to #{formatNumber(problem.seq)}
        </a>
      </section>
    );
  return (
    <section class="ver" aria-label="The check of this record">
      <Icon name="shield" />
      <div class="sp">
        <h3>
          Verified, {formatNumber(events)} {events === 1 ? 'event' : 'events'}
        </h3>
        <p class="q2">
          Every event fits the one before it. Checked in this browser {agoPhrase(checkedAt)}
          {previousHead && previousHead.seq <= events
            ? `; nothing was changed, left out or slipped in since you last looked at #${formatNumber(previousHead.seq)}.`
            : '; nothing was changed, left out or slipped in.'}
          {withheld > 0 && ` You may not read the data of ${formatNumber(withheld)} of them; their hashes fit too.`}
        </p>
      </div>
      {head && (
        <div class="hsh">
          <span class="q2 sm">head</span>
          <code class="mono">{shortHash(head.hash)}</code>
          <IconButton icon="copy" label="Copy the whole head" onClick={() => void copy(head.hash, 'the head')} />
        </div>
      )}
    </section>
  );
}
