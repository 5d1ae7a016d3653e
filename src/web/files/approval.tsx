/** The approvals of a file, and the button to approve the shown version. */
import type { FileDetail } from '../../contract/types.ts';
import { announce } from '../parts/announce.tsx';
import { Icon } from '../parts/icon.tsx';
import { excerpt } from '../parts/plain-text.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { useKeys } from '../state/keys.ts';
import { needsOnBoard } from '../state/needs.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { changesSince } from './kind.ts';

interface ApprovalProps {
  file: FileDetail;
  shownVersion: number;
  room: Room;
  onChange: () => Promise<void>;
}

export function Approval({ file, shownVersion, room, onChange }: ApprovalProps) {
  const action = useAction();
  const params = { board: room.name, file: file.id };
  const archived = room.board.value?.lifecycle === 'archived';
  const mine = file.mine?.version === shownVersion;
  const approve = async (): Promise<void> => {
    const done = await action.run(() => write('approveFile', { params, body: { version: shownVersion } }));
    if (done) announce(`Approved v${shownVersion}`);
    await onChange();
  };
  const takeBack = async (): Promise<void> => {
    const done = await action.run(() => write('unapproveFile', { params }));
    if (done) announce('Approval taken back');
    await onChange();
  };
  useKeys(
    'Approval',
    [{ keys: 'a', label: `Approve v${shownVersion}`, run: () => (archived || mine ? false : void approve()) }],
    [shownVersion, archived, mine],
  );
  const ask = needsOnBoard(room.name).find(
    (need) => need.kind === 'ask' && need.message.ask?.approval && need.message.files.some(({ id }) => id === file.id),
  );
  const message = ask?.kind === 'ask' ? ask.message : null;
  const now = file.approvals.filter(({ version }) => version === shownVersion);
  const others = file.approvals.filter(({ version }) => version !== shownVersion);
  return (
    <>
      <div class={message ? 'apbar' : 'apbar calm'}>
        <Icon name="shield" />
        <p class="sp">
          <b>
            {now.length === 0
              ? `Nobody has approved v${shownVersion}.`
              : `${names(
                  now.map(({ person }) => person.name),
                  file.mine?.person.name,
                )} approved v${shownVersion}.`}
          </b>{' '}
          {others.map(({ person, version, changes_since }) => (
            <span class="q2" key={person.id}>
              {person.name === file.mine?.person.name ? 'You' : person.name} approved v{version},{' '}
              {changesSince(changes_since)}.{' '}
            </span>
          ))}
          {message && (
            <a href={hrefOf({ screen: 'board', board: room.name, tab: 'talk', message: message.seq })}>
              {message.from.name} asks you: {excerpt(message.body, 120)}
            </a>
          )}
        </p>
        {!archived &&
          (mine ? (
            <button type="button" class="b" aria-disabled={action.busy} onClick={() => void takeBack()}>
              Take approval back
            </button>
          ) : (
            <button type="button" class="b pri" aria-disabled={action.busy} onClick={() => void approve()}>
              <Icon name="check" />
              Approve v{shownVersion}
            </button>
          ))}
      </div>
      <ProblemLine error={action.error} />
    </>
  );
}

const names = (all: string[], me: string | undefined): string =>
  all
    .map((name) => (name === me ? 'You' : name))
    .toSorted((a) => (a === 'You' ? -1 : 1))
    .join(' and ');
