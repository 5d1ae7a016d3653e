/** The page of one file: preview or diff, versions, approvals and actions. */
import { Suspense } from 'preact/compat';
import { useRef } from 'preact/hooks';
import type { FileDetail, FileVersion } from '../../contract/types.ts';
import { bytesHref } from '../api/bytes.ts';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { formatBytes } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Select } from '../parts/select.tsx';
import { agoPhrase } from '../parts/time.tsx';
import { useKeys } from '../state/keys.ts';
import type { Room } from '../state/room.ts';
import { type BoardPlace, hrefOf, navigate } from '../state/route.ts';
import { AboutFile } from './about-file.tsx';
import { Approval } from './approval.tsx';
import { FileActions } from './file-actions.tsx';
import { isText } from './kind.ts';
import { useFile } from './use-file.ts';

const Changes = lazy(() => import('./changes.tsx'));
const Preview = lazy(() => import('./preview.tsx'));

export function FilePage({ here, file: name, room }: { here: BoardPlace; file: string; room: Room }) {
  const { value: file, error, postsError, reload } = useFile(room, name);
  /** The latest version when the page opened: what is read and may be approved does not change by itself. */
  const opened = useRef<number | null>(null);
  const list = hrefOf({ screen: 'board', board: room.name, tab: 'files' });
  useKeys('File', [
    {
      keys: 'Escape',
      label: 'Back to the files',
      run: () => navigate({ screen: 'board', board: room.name, tab: 'files' }),
    },
  ]);
  if (!file)
    return (
      <div class="page" aria-busy={error === null}>
        {error !== null && (
          <>
            <ProblemLine error={error} onRetry={reload} />
            <p>
              <a href={list}>All files</a>
            </p>
          </>
        )}
      </div>
    );
  const { latest } = file;
  opened.current ??= latest.version;
  const wanted = here.version ?? opened.current;
  const shown = file.versions.find(({ version }) => version === wanted) ?? latest;
  const against = findComparison(file, shown, here);
  const at = (parts: Partial<BoardPlace>): BoardPlace => ({
    screen: 'board',
    board: room.name,
    tab: 'files',
    file: name,
    version: shown.version,
    ...parts,
  });
  const earlier = file.versions.filter(({ version }) => version !== shown.version);
  const comparable = earlier.length > 0 && isText(shown.media_type);
  return (
    <div class="filep">
      <div class="page fp">
        <div class="row w fhead">
          <a class="b bare ic fback" href={list} aria-label="All files">
            <Icon name="left" />
          </a>
          <h2 class="mono fn">{file.name}</h2>
          <span class="q2">
            v{shown.version} by {shown.by.name}, {agoPhrase(shown.at)}, {formatBytes(shown.size)}
          </span>
          <span class="sp" />
          <a
            class="b"
            href={bytesHref({ board: room.name, file: file.id, version: shown.version })}
            download={file.name.split('/').at(-1)}
          >
            <Icon name="get" />
            Get v{shown.version}
          </a>
          {file.removed_at === null && (
            <FileActions file={file} base={Math.max(opened.current, shown.version)} room={room} onChange={reload} />
          )}
        </div>
        <ProblemLine error={error} onRetry={reload} />
        {here.version !== undefined && shown.version !== here.version && (
          <p class="q2">
            There is no v{here.version} of it; this is v{shown.version}.
          </p>
        )}
        {latest.version > shown.version && (
          <p class="q2" role="status">
            <a href={hrefOf(at({ version: latest.version, against: undefined }))}>v{latest.version}</a> is there, by{' '}
            {latest.by.name}, {agoPhrase(latest.at)}.
          </p>
        )}
        {file.removed_at !== null ? (
          <p class="apbar calm">It was removed from the board. Its versions stay readable here.</p>
        ) : (
          <Approval file={file} shownVersion={shown.version} room={room} onChange={reload} />
        )}
        <div class="row w fshow">
          {comparable && (
            <fieldset class="seg">
              <legend class="vh">Show</legend>
              <button
                type="button"
                aria-pressed={against !== null}
                onClick={() => navigate(at({ against: against?.version ?? earlier[0]!.version }), { replace: true })}
              >
                Changes
              </button>
              <button
                type="button"
                aria-pressed={against === null}
                onClick={() => navigate(at({ against: undefined }), { replace: true })}
              >
                {isText(shown.media_type) ? 'Text' : 'Preview'}
              </button>
            </fieldset>
          )}
          {against && (
            <span class="row q2 nw">
              <span>from</span>
              <VersionSelect
                label="Compare from"
                versions={earlier}
                value={against.version}
                onChange={(version) => navigate(at({ against: version }), { replace: true })}
              />
            </span>
          )}
          {file.versions.length > 1 && (
            <span class="row q2 nw">
              {against && <span>to</span>}
              <VersionSelect
                label={against ? 'Compare to' : 'Version'}
                versions={against ? file.versions.filter(({ version }) => version !== against.version) : file.versions}
                value={shown.version}
                onChange={(version) => navigate(at({ version, against: against?.version }), { replace: true })}
              />
            </span>
          )}
        </div>
        <Suspense fallback={<div aria-busy="true" />}>
          {against ? (
            <Changes board={room.name} file={file} from={against} to={shown} />
          ) : (
            <Preview board={room.name} file={file} shown={shown} />
          )}
        </Suspense>
      </div>
      <AboutFile
        file={file}
        shownVersion={shown.version}
        room={room}
        postsError={postsError}
        reload={reload}
        hrefOfVersion={(version) => hrefOf(at({ version, against: undefined }))}
      />
    </div>
  );
}

/**
 * The version to compare with: from the address, else the version this person approved last if the file changed since.
 */
function findComparison(file: FileDetail, shown: FileVersion, here: BoardPlace): FileVersion | null {
  if (!isText(shown.media_type)) return null;
  const approved = file.mine && file.mine.changes_since > 0 ? file.mine.version : undefined;
  const wanted = here.against ?? (here.version === undefined ? approved : undefined);
  if (wanted === shown.version) return null;
  return file.versions.find(({ version, media_type }) => version === wanted && isText(media_type)) ?? null;
}

const VersionSelect = (props: {
  label: string;
  versions: FileVersion[];
  value: number;
  onChange: (version: number) => void;
}) => (
  <Select
    label={props.label}
    value={String(props.value)}
    options={props.versions.map(({ version }) => [String(version), `v${version}`] as const)}
    onChange={(version) => props.onChange(Number(version))}
  />
);
