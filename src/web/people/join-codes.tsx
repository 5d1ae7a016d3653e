/** Join codes for agents and guests: created, shown once, listed and revoked. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Board, JoinCode } from '../../contract/types.ts';
import { usualRole } from '../../contract/values.ts';
import { call, readAll } from '../api/client.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { Select, toOption } from '../parts/select.tsx';
import { ago, formatExact, until } from '../parts/time.tsx';
import { copy } from '../parts/toast.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { useStored } from '../state/storage.ts';

type CreatedCode = Answer<'createJoinCode'>;

const HOUR = 3_600;
/** In hours. */
const lifetimes = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
] as const;

/** @param guest whether the code is for somebody without an account */
export function CodeForm(props: {
  board: Board;
  guest: boolean;
  onClose: () => void;
  onCreated: (code: CreatedCode) => void;
}) {
  const { board, guest, onClose, onCreated } = props;
  const roles = Object.keys(board.roles);
  const [role, setRole] = useState<string>(usualRole);
  const [hours, setHours] = useState<string>('24');
  const [handle, setHandle, drop] = useStored(`guest:${board.id}`, '');
  const action = useAction();
  const cancel = (): void => {
    drop();
    onClose();
  };
  const send = (): void => {
    void action.run(async () => {
      const body = { role, ttl_seconds: Number(hours) * HOUR, ...(guest ? { guest: handle.trim() } : {}) };
      const code = await call('createJoinCode', { params: { board: board.name }, body });
      if (guest) drop();
      onCreated(code);
    });
  };
  return (
    <FormDialog
      title={guest ? 'Code for a guest' : 'Join line for an agent'}
      write={action}
      action={guest ? 'Make the code' : 'Make the line'}
      onSubmit={send}
      onClose={onClose}
      onCancel={guest ? cancel : onClose}
    >
      <p class="q2">
        {guest
          ? 'A guest sees this board only. The code makes their account, with the handle you give here, and a seat for their agent.'
          : 'Paste the line into a session of yours: it takes a seat on this board, owned by you.'}
      </p>
      {guest && (
        <TextField
          label="Handle of the guest"
          required
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          title="small letters and digits, in groups joined by hyphens"
          autocomplete="off"
          value={handle}
          onInput={setHandle}
        />
      )}
      <label>
        Role of the agent
        <Select class="in" value={role} options={roles.map(toOption)} onChange={setRole} />
      </label>
      <label>
        Works for
        <Select class="in" value={hours} options={lifetimes} onChange={setHours} />
      </label>
    </FormDialog>
  );
}

/** Shows a new code, which the server never shows again. */
export function NewCode({ made, close }: { made: CreatedCode; close: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // In an effect, because the closing dialog first restores the focus to its button.
  useLayoutEffect(() => heading.current?.focus(), [made]);
  const guest = made.kind === 'guest';
  return (
    <section class="card jl" aria-labelledby="new-code">
      <div class="row w">
        <h3 id="new-code" ref={heading} tabIndex={-1}>
          {guest ? `Send this to ${made.guest}` : 'Paste this into a session of yours'}
        </h3>
        <span class="sp" />
        <span class="q2">
          {guest ? 'works once' : 'works for any number of your sessions'}, for {until(made.expires_at)}
        </span>
      </div>
      <div class="cmd">
        <code>{made.join_line}</code>
        <button type="button" class="b" onClick={() => void copy(made.join_line, 'the line')}>
          <Icon name="copy" />
          Copy
        </button>
      </div>
      <div class="row w">
        <p class="q2 sp">
          Shown only now.{' '}
          {guest
            ? `${made.guest} pastes it into a session, or runs service connect with it.`
            : `The session gets a seat on ${made.board}, owned by you. It appears below as soon as it has joined.`}
        </p>
        <button type="button" class="b bare" onClick={close}>
          Hide it
        </button>
      </div>
    </section>
  );
}

/** @param made reloads the list when it changes */
export function JoinCodes({ room, made }: { room: Room; made: number }) {
  const params = { board: room.name };
  const {
    value: codes,
    error,
    reload,
  } = useLoad(() => readAll('listJoinCodes', 'join_codes', { params, query: { limit: 200 } }), [room], [made]);
  const action = useAction();
  useEffect(
    () => room.subscribeThrottled(({ event }) => /^(joincode|member|board\.visibility)/.test(event.type), reload),
    [room],
  );
  if (error !== null) return <ProblemLine error={error} onRetry={reload} />;
  if (!codes) return <div aria-busy="true" />;
  if (codes.length === 0) return null;
  const revoke = (code: JoinCode): void =>
    void action.run(async () => {
      await write('revokeJoinCode', { params: { ...params, code_id: code.id } });
      reload();
    });
  return (
    <section class="pg" aria-labelledby="codes">
      <h3 id="codes">Codes that work</h3>
      <ProblemLine error={action.error} />
      <ul class="codes">
        {codes.map((code) => (
          <li key={code.id} class="row w">
            <span class="sp">
              {code.kind === 'guest' ? <b>{`Guest ${code.guest}`}</b> : <b>Sessions of {code.created_by.name}</b>}{' '}
              <span class="q2">
                as {code.role}, made by {code.created_by.name} {ago(code.created_at)}
                {code.created_at && ago(code.created_at) !== 'now' ? ' ago' : ''},{' '}
                {code.uses === 0 ? 'not used yet' : `used ${code.uses === 1 ? 'once' : `${code.uses} times`}`},{' '}
                <span title={formatExact(code.expires_at)}>ends in {until(code.expires_at)}</span>
              </span>
            </span>
            <button type="button" class="b" aria-disabled={action.busy} onClick={() => revoke(code)}>
              Revoke<span class="vh"> the code for {code.guest ?? `sessions of ${code.created_by.name}`}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
