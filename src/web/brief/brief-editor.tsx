/**
 * The editor of the brief. If somebody saved a newer version meanwhile, it shows both texts and asks which to keep.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Board, Brief } from '../../contract/types.ts';
import { readText } from '../api/bytes.ts';
import { hasCode } from '../api/errors.ts';
import { announce } from '../parts/announce.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { toast } from '../parts/toast.tsx';
import { attempt } from '../state/attempts.ts';
import type { Room } from '../state/room.ts';
import { ownName, readStored, writeStorage } from '../state/storage.ts';
import { sendFile } from '../upload/send.ts';
import { openBrief } from './brief.ts';

interface Version {
  brief: Brief;
  text: string;
}

/** An unsaved text and the version it started from. Stored in this browser until it is saved or discarded. */
interface Draft {
  text: string;
  /** Null: there was no brief. */
  base: Pick<Brief, 'file_id' | 'version' | 'name'> | null;
}

const storageName = (boardId: string): string => ownName(`brief:${boardId}`);

const loadDraft = (boardId: string): Draft | null => readStored(storageName(boardId), null);

/** Whether this browser has an unsaved text for the board's brief. */
export const hasDraft = (boardId: string): boolean => loadDraft(boardId) !== null;

const saveDraft = (boardId: string, draft: Draft | null): void =>
  writeStorage(storageName(boardId), draft && JSON.stringify(draft));

interface Props {
  room: Room;
  board: Board;
  /** The current version, or null. */
  current: Version | null;
  onClose: () => void;
}

export function BriefEditor({ room, board, current, onClose }: Props) {
  const [draft, setDraft] = useState<Draft>(
    () => loadDraft(board.id) ?? { text: current?.text ?? '', base: current?.brief ?? null },
  );
  /** The version somebody else saved; null: they removed it; undefined: no conflict. */
  const [theirs, setTheirs] = useState<Version | null | undefined>(undefined);
  const [merging, setMerging] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), [merging]);

  const changeText = (text: string): void => {
    setDraft({ ...draft, text });
    saveDraft(board.id, text === (current?.text ?? '') ? null : { ...draft, text });
  };
  const finish = (): void => {
    saveDraft(board.id, null);
    onClose();
  };

  async function save(base: Draft['base']): Promise<void> {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    const name = draft.base?.name ?? 'brief.md';
    const target = base && { base: base.version, file_id: base.file_id, replace_format: base.name !== name };
    try {
      await attempt(`brief ${board.id}`, JSON.stringify([target, draft.text]), (key) =>
        sendFile(room.name, new Blob([draft.text]), { name, brief: true, ...target }, { key }),
      );
      await room.refresh(false);
      finish();
    } catch (error) {
      if (hasCode(error, 'file_changed', 'brief_exists')) await showConflict().catch(setProblem);
      else setProblem(error);
    } finally {
      setBusy(false);
    }
  }

  /** Loads the current version and shows the conflict. */
  async function showConflict(): Promise<void> {
    await room.refresh(false);
    const brief = room.board.peek()?.brief ?? null;
    const text = brief && (await readText({ board: room.name, file: brief.file_id, version: brief.version }));
    if (brief && text === draft.text) return finish();
    setTheirs(brief && { brief, text: text ?? '' });
    setMerging(false);
    announce('Not saved. Somebody changed the brief meanwhile.', { urgent: true });
  }

  if (theirs !== undefined && !merging)
    return (
      <Conflict
        mine={draft.text}
        theirs={theirs}
        busy={busy}
        problem={problem}
        onKeepMine={() => void save(theirs?.brief ?? null)}
        onTakeTheirs={() => {
          const aside = { ...draft, base: theirs?.brief ?? null };
          finish();
          toast('Your text was put aside', {
            label: 'Bring it back',
            run: () => {
              saveDraft(board.id, aside);
              openBrief.value = null;
              setTimeout(() => {
                openBrief.value = room.name;
              });
            },
          });
        }}
        onMerge={() => {
          const next = { ...draft, base: theirs?.brief ?? null };
          setDraft(next);
          saveDraft(board.id, next);
          setMerging(true);
        }}
      />
    );
  const isOutdated = draft.base && current && draft.base.version !== current.brief.version && !merging;
  return (
    <form
      class="brief-form"
      aria-label="Change the brief"
      onSubmit={(event) => {
        event.preventDefault();
        void save(draft.base);
      }}
    >
      <div class={merging && theirs ? 'brief-two' : undefined}>
        <div class="brief-text">
          {merging && <h3>Your text</h3>}
          <textarea
            ref={field}
            class="in mono"
            aria-label="Text of the brief"
            placeholder="What everyone on this board should know: the goal, what is decided, what is open."
            value={draft.text}
            readOnly={busy}
            onInput={({ currentTarget }) => changeText(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              void save(draft.base);
            }}
          />
        </div>
        {merging && theirs && <Text title={titleOf(theirs)} text={theirs.text} />}
      </div>
      {isOutdated && (
        <p class="q2 sm">Somebody saved v{current.brief.version} meanwhile. Saving shows both texts first.</p>
      )}
      <ProblemLine error={problem} />
      <div class="row">
        <span class="sp q sm">{hasDraft(board.id) ? 'Kept in this browser until you save it.' : ''}</span>
        <button type="button" class="b bare" onClick={finish}>
          Discard
        </button>
        <button type="submit" class="b pri" aria-disabled={busy}>
          {draft.base ? `Save as v${draft.base.version + 1}` : 'Save'}
        </button>
      </div>
    </form>
  );
}

const titleOf = ({ brief }: Version): string => `v${brief.version} by ${brief.by.name}`;

const Text = ({ title, text }: { title: string; text: string }) => (
  <div class="brief-text">
    <h3>{title}</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled by keyboard */}
    <pre class="mono" tabIndex={0}>
      {text}
    </pre>
  </div>
);

function Conflict(props: {
  mine: string;
  theirs: Version | null;
  busy: boolean;
  problem: unknown;
  onKeepMine: () => void;
  onTakeTheirs: () => void;
  onMerge: () => void;
}) {
  const { theirs } = props;
  const first = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  return (
    <div class="brief-conflict">
      <h2 ref={first} tabIndex={-1}>
        {theirs
          ? `Not saved: ${theirs.brief.by.name} changed the brief meanwhile`
          : 'Not saved: the brief was removed meanwhile'}
      </h2>
      <p class="q2">Nothing is lost. Choose what the brief says next.</p>
      <div class="brief-two">
        <Text title="Your text" text={props.mine} />
        {theirs && <Text title={titleOf(theirs)} text={theirs.text} />}
      </div>
      <ProblemLine error={props.problem} />
      <div class="row w">
        <button type="button" class="b" aria-disabled={props.busy} onClick={props.onKeepMine}>
          {theirs ? `Save yours as v${theirs.brief.version + 1}` : 'Save yours as a new brief'}
        </button>
        {theirs && (
          <button type="button" class="b" onClick={props.onTakeTheirs}>
            Take {theirs.brief.by.name}’s
          </button>
        )}
        {theirs && (
          <button type="button" class="b" onClick={props.onMerge}>
            Put both together by hand
          </button>
        )}
      </div>
    </div>
  );
}
