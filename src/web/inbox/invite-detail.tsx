/** Details of an invite that an agent of the person created. */
import type { Answer } from '../../contract/types.ts';
import { listAll } from '../api/client.ts';
import { Command, Fact, serverCommand } from '../parts/command.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatDayTime } from '../parts/time.tsx';
import { useLoad } from '../state/load.ts';
import { Heading } from './heading.tsx';
import { ownAgent } from './items.ts';
import { invites } from './lists.ts';

type Notice = Answer<'listInviteNotices'>['notices'][number];

const words: Record<Notice['state'], string> = {
  active: 'It still works',
  redeemed: 'It was used: the person is a member now',
  revoked: 'It was revoked',
  expired: 'It has ended unused',
};

async function read(id: string): Promise<Notice | undefined> {
  for await (const page of listAll('listInviteNotices', { query: { limit: 100 } })) {
    const found = page.notices.find((notice) => notice.id === id);
    if (found) return found;
  }
  return undefined;
}

export function InviteDetail({ id }: { id: string }) {
  const listed = invites.value.find((invite) => invite.id === id);
  const { value, error, reload } = useLoad(async () => ({ notice: listed ?? (await read(id)) }), [id], [listed]);
  const notice = listed ?? value?.notice;
  if (!notice && (!value || error !== null)) return <ProblemLine error={error} onRetry={reload} />;
  if (!notice)
    return (
      <>
        <h1 id="inbox-title">There is no such invite</h1>
        <p class="q2">Only invites that one of your agents made are shown here.</p>
      </>
    );
  const { display, state, suggested_handle, message, expires_at, created_at } = notice;
  const who = ownAgent(display?.agent_name);
  return (
    <article aria-labelledby="inbox-title">
      <Heading
        who={who}
        at={created_at}
        title={suggested_handle ? `Invite for ${suggested_handle}` : 'Invite for one person'}
      >
        made an invite
      </Heading>
      <p class="stands">{message}</p>
      <dl class="frozen">
        <Fact name="State">
          <b>{words[state]}</b>
          {state === 'active' && `, until ${formatDayTime(expires_at)}`}
        </Fact>
        <Fact name="Boards">
          {display?.boards.map((board) => board.title ?? board.name).join(', ') || 'none, only the server'}
        </Fact>
      </dl>
      {state === 'active' && (
        <div class="own-key">
          <p>To revoke it, your own key is needed, in your terminal:</p>
          <Command line={serverCommand('invite', 'revoke', notice.id)} />
        </div>
      )}
    </article>
  );
}
