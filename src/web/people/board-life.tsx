/** Visibility, leaving, archiving, restoring and deleting a board, each with a confirmation. */
import { useEffect, useState } from 'preact/hooks';
import type { Answer, Board } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { whoRestores } from '../compose/closed.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { toast } from '../parts/toast.tsx';
import { write } from '../state/attempts.ts';
import { readBoards } from '../state/boards.ts';
import type { Room } from '../state/room.ts';
import { navigate } from '../state/route.ts';
import type { Viewer } from './board-people.ts';

type Act = 'visibility' | 'leave' | 'archive' | 'restore' | 'delete';

interface LifeProps {
  room: Room;
  board: Board;
  me: Viewer;
  onChange: () => void;
}

/** The actions that the server would not refuse. Opening an archived board is refused, closing it is not. */
function availableActs({ board, me }: LifeProps): Act[] {
  const acts: [Act, boolean][] = [
    ['visibility', me.owner && !me.guest && (board.visibility === 'open' || !me.archived)],
    ['leave', board.on_board && me.canLeave],
    ['archive', board.can_archive],
    ['restore', board.can_restore],
    ['delete', board.can_delete],
  ];
  return acts.flatMap(([act, may]) => (may ? [act] : []));
}

const actLabel = (act: Act, { visibility }: Board): string =>
  ({
    visibility: visibility === 'open' ? 'Make it private' : 'Open it to everyone',
    leave: 'Leave the board',
    archive: 'Archive it',
    restore: 'Restore it',
    delete: 'Delete it',
  })[act];

export function BoardLife(props: LifeProps) {
  const { room, board, me } = props;
  const [act, setAct] = useState<Act | null>(null);
  const acts = availableActs(props);
  const close = (): void => setAct(null);
  return (
    <section class="pg" aria-labelledby="board-life">
      <h3 id="board-life">The board as a whole</h3>
      {me.archived && (
        <p class="q2">
          It is archived: everything can be read, nothing written. {whoRestores(board, room)} can restore it.
        </p>
      )}
      <div class="row w lifebar">
        {acts.map((name) => (
          <button key={name} type="button" class={name === 'delete' ? 'b bad' : 'b'} onClick={() => setAct(name)}>
            {actLabel(name, board)}
          </button>
        ))}
      </div>
      {me.owner && !me.otherOwners && (
        <p class="q2 sm">You are its only owner. To leave, make somebody else an owner first.</p>
      )}
      {act === 'visibility' && <Visibility {...props} close={close} />}
      {act && act !== 'visibility' && <ConfirmAct {...props} act={act} close={close} />}
    </section>
  );
}

type Preview = Answer<'setBoardVisibility'>;

/** Shows what a change of visibility would reveal or end before it is made. */
function Visibility({ board, onChange, close }: LifeProps & { close: () => void }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<unknown>(null);
  const params = { board: board.name };
  // What was asked for, even if another owner changes it meanwhile.
  const [visibility] = useState<'open' | 'private'>(board.visibility === 'open' ? 'private' : 'open');
  useEffect(() => {
    call('setBoardVisibility', { params, body: { visibility, dry_run: true } }).then(setPreview, setError);
  }, []);
  return (
    <Confirm
      title={visibility === 'open' ? `Open ${board.name} to everyone` : `Make ${board.name} private`}
      action={visibility === 'open' ? 'Open it' : 'Make it private'}
      canConfirm={preview !== null}
      onClose={close}
      onConfirm={async () => {
        await write('setBoardVisibility', { params, body: { visibility } });
        onChange();
      }}
    >
      <ProblemLine error={error} />
      {preview && <p>{previewWords(preview)}</p>}
    </Confirm>
  );
}

function previewWords({ after, reveals, join_codes_canceled, agents_add_people }: Preview): string {
  if (after === 'open') {
    const held = reveals ? `${plural(reveals.messages, 'message')} and ${plural(reveals.files, 'file')}` : 'nothing';
    return `Every person of the server but guests may then see and join it, and read what it holds: ${held}. Closing it later hides it again, but not what was read.${agents_add_people ? ' Its agents may add people.' : ''}`;
  }
  const codes = join_codes_canceled === 0 ? '' : ` ${plural(join_codes_canceled, 'code')} to join will stop working.`;
  return `Those on the board stay, with their agents. Everyone else no longer sees it.${codes}`;
}

function ConfirmAct({
  board,
  act,
  close,
  onChange,
}: LifeProps & { act: Exclude<Act, 'visibility'>; close: () => void }) {
  const { name } = board;
  const params = { board: name };
  const words: Record<typeof act, { title: string; text: string; done: string }> = {
    leave: {
      title: `Leave ${name}`,
      text: `Your agents here end for good, and your tasks go back to open. What you wrote stays. ${board.visibility === 'open' ? 'You may join it again.' : 'To come back, somebody on it has to add you.'}`,
      done: `You left ${name}`,
    },
    archive: {
      title: `Archive ${name}`,
      text: 'It stays readable, and nothing can be written until it is restored. You can restore it.',
      done: `Archived ${name}`,
    },
    restore: {
      title: `Restore ${name}`,
      text: 'People and agents can write again. Seats and codes that ended stay ended.',
      done: `Restored ${name}`,
    },
    delete: {
      title: `Delete ${name}`,
      text: 'Nobody will see it again, and its agents end. This cannot be undone; its name stays taken.',
      done: `Deleted ${name}`,
    },
  };
  const { title, text, done } = words[act];
  const operation = (
    { leave: 'leaveBoard', archive: 'archiveBoard', restore: 'restoreBoard', delete: 'deleteBoard' } as const
  )[act];
  const send = async (): Promise<void> => {
    await write(operation, { params });
    toast(done);
    void readBoards();
    if (act === 'leave' || act === 'delete') navigate({ screen: 'boards' });
    else onChange();
  };
  return (
    <Confirm
      title={title}
      action={title}
      confirmWord={act === 'delete' ? name : undefined}
      onConfirm={send}
      onClose={close}
    >
      <p>{text}</p>
    </Confirm>
  );
}
