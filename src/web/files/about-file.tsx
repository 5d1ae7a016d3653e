/** The side column of a file: versions, freshness, tasks and messages. */
import type { FileDetail, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { Icon } from '../parts/icon.tsx';
import { formatBytes } from '../parts/number.ts';
import { excerpt } from '../parts/plain-text.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { describeFreshness } from './kind.ts';

const MAX_POSTS = 5;

interface PostsProps {
  file: FileDetail;
  room: Room;
  /** Why not all numbers of the messages that it was in could be read. */
  postsError: unknown;
  reload(): Promise<void>;
}

interface AboutProps extends PostsProps {
  shownVersion: number;
  hrefOfVersion: (version: number) => string;
}

export function AboutFile({ shownVersion, hrefOfVersion, ...posts }: AboutProps) {
  const { file, room } = posts;
  const { versions, approvals, about } = file;
  const fresh = describeFreshness(file);
  return (
    <aside class="side fs" aria-label="About this file">
      <section>
        <h3>Versions</h3>
        <ol class="vers">
          {versions.map(({ version, by, at, size }) => (
            <li key={version} aria-current={version === shownVersion ? 'true' : undefined}>
              <b>
                <a href={hrefOfVersion(version)}>v{version}</a>
              </b>
              <span>
                <Glyph who={by} size={20} />
                {by.name}
              </span>
              <Time at={at} relative />
              <span class="q2 sm">{formatBytes(size)}</span>
              {approvals
                .filter((approval) => approval.version === version)
                .map(({ person }) => (
                  <span class="st ok" key={person.id}>
                    <Icon name="check" small />
                    approved by {person.name}
                  </span>
                ))}
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h3>Fresh?</h3>
        <p class="q2">{fresh === null ? `Nothing happened since v${file.latest.version}.` : `${fresh}.`}</p>
      </section>
      {about.length > 0 && (
        <section>
          <h3>About</h3>
          <div class="row w">
            {about.map(({ id, ref, title }) => (
              <a
                key={id}
                class="chip"
                title={title}
                href={hrefOf({ screen: 'board', board: room.name, tab: 'tasks', task: ref })}
              >
                <Icon name="task" small />
                <span class="mono">{ref}</span>
              </a>
            ))}
          </div>
        </section>
      )}
      <PostedIn {...posts} />
    </aside>
  );
}

/** The latest messages that the file was attached to. */
function PostedIn({ file, room, postsError, reload }: PostsProps) {
  // A message with several versions of it is there once for each.
  const posts = [...new Set(file.posted_in.map(({ seq }) => seq))].slice(-MAX_POSTS).toReversed();
  const read = (seq: number): Promise<Message | null> =>
    call('getMessageBySeq', { params: { board: room.name, seq } }).then(
      ({ message }) => message,
      (error: unknown) => {
        if (hasCode(error, 'message_not_found')) return null;
        throw error;
      },
    );
  const found = useLoad(() => Promise.all(posts.map(read)), [room], [file.posted_in.at(-1)?.message_id]);
  const messages = (found.value ?? []).filter((message) => message !== null);
  const error = found.error ?? postsError;
  if (messages.length === 0 && error === null) return null;
  return (
    <section>
      <h3>Posted in</h3>
      {error !== null && <p class="q2">Not all messages that it was in could be read.</p>}
      <ProblemLine error={error} onRetry={found.error === null ? reload : found.reload} />
      {messages.map((message) => (
        <a
          key={message.id}
          class="tk"
          href={hrefOf({ screen: 'board', board: room.name, tab: 'talk', message: message.seq })}
        >
          <span class="quote">“{excerpt(message.body, 80)}”</span>
          <span class="q2 sm">
            {message.from.name}, <Time at={message.at} relative />,{' '}
            {message.files.flatMap(({ id, version }) => (id === file.id ? [`v${version}`] : [])).join(', ')}
          </span>
        </a>
      ))}
    </section>
  );
}
