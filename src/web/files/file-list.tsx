/** The files of a board: version, size, freshness and approvals. */
import { useEffect, useRef } from 'preact/hooks';
import { isBriefPath } from '../../contract/ids.ts';
import type { BoardFile } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { Icon } from '../parts/icon.tsx';
import { formatBytes, formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { moveFocus, useKeys } from '../state/keys.ts';
import { useLoad } from '../state/load.ts';
import { FILES_INTERVAL_MS, type Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { oneAtATime } from '../state/throttle.ts';
import { changesSince } from './kind.ts';
import { NewFile } from './new-file.tsx';

export function FileList({ room }: { room: Room }) {
  const {
    value: files,
    error,
    reload,
  } = useLoad(() => readAll('listFiles', 'files', { params: { board: room.name }, query: { limit: 200 } }), [room]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const read = oneAtATime(reload);
    const stops = [
      room.subscribeThrottled(
        ({ event }) => /^(file\.|person\.renamed)/.test(event.type),
        () => void read(),
      ),
      room.subscribeThrottled(
        ({ event }) => event.type === 'message.posted',
        () => void read(),
        FILES_INTERVAL_MS,
      ),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [room]);

  const move = (step: 1 | -1): unknown => moveFocus(list.current, 'a.frow', step);
  useKeys('Files', [
    { keys: 'j', label: 'Next file', run: () => move(1) },
    { keys: 'k', label: 'File before', run: () => move(-1) },
  ]);

  const archived = room.board.value?.lifecycle === 'archived';
  return (
    <div class="page">
      <div class="col wide">
        <div class="row w flist-head">
          <h2>Files</h2>
          {files && files.length > 0 && <span class="q2">{formatNumber(files.length)}</span>}
          <span class="sp" />
          {!archived && <NewFile room={room} />}
        </div>
        <ProblemLine error={error} onRetry={reload} />
        {!files && error === null && <div aria-busy="true" />}
        {files?.length === 0 && (
          <p class="q2">
            No files yet. Agents put here what should outlive a conversation; messages can carry files too.
          </p>
        )}
        {files && files.length > 0 && (
          <ul class="list" ref={list} aria-label="Files">
            {files.map((file) => (
              <Row key={file.id} file={file} />
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function Row({ file }: { file: BoardFile }) {
  const { name, board, latest, freshness, approvals, maintained, about } = file;
  const since = freshness.messages_since;
  return (
    <li>
      <a class="frow" href={hrefOf({ screen: 'board', board, tab: 'files', file: name })}>
        <Icon name={isBriefPath(name) ? 'brief' : 'file'} />
        <span class="fname">
          <b class="mono">{name}</b>
          <span class="q2 sm">
            v{latest.version} by {latest.by.name}, <Time at={latest.at} relative />
            {about.length > 0 && `, about ${about.map(({ ref }) => ref).join(', ')}`}
          </span>
        </span>
        <span class="fappr sm">
          {approvals.length === 0 && <span class="q2">not approved</span>}
          {approvals.map(({ person, version, changes_since }) => (
            <span key={person.id} class={changes_since === 0 ? 'st ok' : 'q2'}>
              {changes_since === 0 && <Icon name="check" small />}
              {changes_since === 0
                ? `approved by ${person.name}`
                : `${person.name} approved v${version}, ${changesSince(changes_since)}`}
            </span>
          ))}
        </span>
        <span class="ffresh q2 sm">
          {since > 0 ? `${formatNumber(since)} ${since === 1 ? 'message' : 'messages'} since` : 'up to date'}
          {maintained && ', kept up to date'}
        </span>
        <span class="fsize q2 sm">{formatBytes(latest.size)}</span>
      </a>
    </li>
  );
}
