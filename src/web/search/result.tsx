/** One search result with matches marked. */
import type { SearchResult } from '../../contract/types.ts';
import { Icon, taskIcons } from '../parts/icon.tsx';
import { formatNumber } from '../parts/number.ts';
import { Time } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { hrefOfResult, splitMatches } from './results.ts';

const taskWords = {
  open: 'open task',
  in_progress: 'task in progress',
  done: 'task done',
  cancelled: 'task cancelled',
};
const markdownFields = ['body', 'about', 'stands'];
const taskFields: Record<string, string> = { about: 'What it is about: ', stands: 'Where it stands: ' };

export function Result({ result }: { result: SearchResult }) {
  const { board, at, snippet, matches, message, task, file, field } = result;
  const where = message ? `${board} #${formatNumber(message.seq)}` : board;
  return (
    <li>
      <a class="sr" href={hrefOfResult(result)}>
        {message ? (
          <Glyph who={message.from} size={28} />
        ) : (
          <span class={task?.state === 'done' ? 'kic ok' : 'kic'}>
            <Icon name={task ? taskIcons[task.state] : 'file'} />
          </span>
        )}
        <span class="sp">
          <span class="row w sm q2 facts">
            {message && (
              <>
                <b class={message.from.kind === 'agent' ? 'mono' : undefined}>{message.from.name}</b>
                <span>{message.reply_to_seq ? 'in a thread' : `to ${message.to.join(', ')}`}</span>
              </>
            )}
            {task && (
              <>
                <span class="ref">{task.ref}</span>
                <span>{taskWords[task.state]}</span>
              </>
            )}
            {file && (
              <>
                <b class="mono">{file.name}</b>
                <span>v{file.version}</span>
              </>
            )}
            <Time at={at} relative />
          </span>
          <span class={file && field !== 'name' ? 'sn mono' : 'sn'}>
            {task && taskFields[field]}
            {splitMatches(snippet, matches, markdownFields.includes(field)).map((piece, index) =>
              piece.match ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>,
            )}
          </span>
        </span>
        <span class="q sm nw desk">{where}</span>
      </a>
    </li>
  );
}
