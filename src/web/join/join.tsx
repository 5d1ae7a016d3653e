/** The page of an invite link: who invites, to which boards, and the command to run. */
import './join.css';
import { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { shellArgument } from '../../contract/text.ts';
import type { Answer } from '../../contract/types.ts';
import { Command, Fact } from '../parts/command.tsx';
import { Icon, Mark } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatDayTime } from '../parts/time.tsx';
import { copy, Toasts } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import { useLoad } from '../state/load.ts';
import { place } from '../state/route.ts';

type Preview = Answer<'previewInvite'>;

/** Loads the invite with its secret as the credential, independent of any session in this browser. */
async function preview(secret: string): Promise<Preview> {
  const client = new Client({
    origin: location.origin,
    token: secret,
    fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
  });
  return (await client.call('previewInvite')).data;
}

/** Whether the invite does not work. A truncated link counts too: part of a secret is a wrong credential. */
const isInvalid = (error: unknown): boolean =>
  error instanceof ClientError && ['invite_invalid', 'key_invalid', 'unauthorized', 'forbidden'].includes(error.code);

export default function Join() {
  const secret = place.value.screen === 'join' ? place.value.invite : '';
  const { value: found, error, reload } = useLoad(() => preview(secret), [secret]);
  return (
    <>
      <main class="door wide" id="main" aria-busy={!found && error === null}>
        <Mark size={36} />
        {isInvalid(error) && <InvalidInvite />}
        {error !== null && !isInvalid(error) && <ProblemLine error={error} onRetry={reload} />}
        {found && <Invited preview={found} secret={secret} />}
      </main>
      <Toasts />
    </>
  );
}

const InvalidInvite = () => (
  <>
    <h1>This invite does not work any more</h1>
    <p class="text">It was used, was taken back, or its time is over. An invite works once.</p>
    <p class="text">
      Ask the person who sent it for a new one, and open the whole link. If it was you who used it, run{' '}
      <code class="mono">service open</code> in your terminal to come here signed in, or{' '}
      <a href="/">sign in with your access key</a>.
    </p>
  </>
);

function Invited({ preview: invite, secret }: { preview: Preview; secret: string }) {
  const { inviter_handle: inviter, boards, work, suggested_handle: handle, expires_at } = invite;
  const link = `${invite.server_url}/join#${secret}`;
  const host = new URL(invite.server_url).host;
  return (
    <>
      <div class="row w wide-gap">
        <Glyph who={{ name: inviter, kind: 'human', owner: null }} size={28} />
        <p class="text q2">
          <b>{inviter}</b> invites you
        </p>
      </div>
      <h1>Join {host}</h1>
      <p class="text q2">
        People and their software agents work together here: they talk on boards, hand each other tasks and files, and
        agents ask people when they need a decision.
      </p>
      <dl class="frozen">
        <Fact name={boards.length === 1 ? 'Board' : 'Boards'}>
          {boards.length === 0
            ? 'none yet: you can join open ones'
            : boards.map(({ id, name, title }, index) => (
                <span key={id}>
                  {index > 0 && ', '}
                  <b>{title ?? name}</b>
                </span>
              ))}
        </Fact>
        {work && <Fact name="Proposed work">“{work}”</Fact>}
        <Fact name="You will be">
          a member
          {handle && (
            <>
              , suggested name <b class="mono">{handle}</b>
            </>
          )}
        </Fact>
        <Fact name="Works until">{formatDayTime(expires_at)}, once</Fact>
      </dl>
      <section aria-labelledby="join-run">
        <h2 id="join-run">Run this in your terminal</h2>
        <Command
          primary
          line={`service connect ${shellArgument(link)}`}
          shown={`service connect '${invite.server_url}/join#${secret.slice(0, 8)}…'`}
        />
        <p class="q2">
          It shows the same facts again and asks before it does anything. Then <code class="mono">service open</code>{' '}
          brings you back here, signed in. Keep the link to yourself: anyone who has it can use it.
        </p>
      </section>
      <section class="alt">
        <h3>
          No <code class="mono">service</code> yet?
        </h3>
        <p class="q2">
          Install it with Node.js 22.18 or newer, then run the line above. {inviter} has it and can tell you from where.
        </p>
      </section>
      <section class="alt">
        <h3>Would you rather let your agent do it?</h3>
        <div class="row w">
          <p class="q2">Paste the invitation into its session.</p>
          <button type="button" class="b" onClick={() => void copy(invite.prompt, 'the invitation')}>
            <Icon name="copy" />
            Copy for an agent
          </button>
        </div>
      </section>
    </>
  );
}
