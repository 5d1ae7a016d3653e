/** Invites created by the person's agents, with commands to create and revoke invites. */
import type { Answer, ServerRole } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { Command, serverCommand } from '../parts/command.tsx';
import { formatExact, Time } from '../parts/time.tsx';
import { useLoad } from '../state/load.ts';
import { CommandList, Section } from './section.tsx';

type Notice = Answer<'listInviteNotices'>['notices'][number];

const states: Record<Notice['state'], string> = {
  active: 'not used yet',
  redeemed: 'used',
  revoked: 'taken back',
  expired: 'its time is over',
};

export function Invites({ role }: { role: ServerRole }) {
  const load = useLoad(() => readAll('listInviteNotices', 'notices'));
  const notices = load.value;
  return (
    <Section title="Invites" load={load}>
      {notices?.length === 0 && <p class="q2">Your agents have invited nobody.</p>}
      {notices && notices.length > 0 && (
        <ul class="list sinvites">
          {notices.map((notice) => (
            <InviteRow key={notice.id} notice={notice} />
          ))}
        </ul>
      )}
      <CommandList
        summary="Invites in the terminal"
        lines={[
          ...(role === 'admin'
            ? ([
                [
                  'Invite one person; the link is shown once and works once.',
                  serverCommand('invite', 'create', '--ttl', '7d'),
                ],
              ] as [string, string][])
            : []),
          ['List your invites and those of your agents.', serverCommand('invite', 'list')],
        ]}
      />
      {role !== 'admin' && <p class="q2">An admin of the server invites people.</p>}
    </Section>
  );
}

function InviteRow({ notice }: { notice: Notice }) {
  const { id, message, display, state, created_at, expires_at, suggested_handle } = notice;
  const boards = display?.boards ?? [];
  return (
    <li>
      <p>{message}</p>
      <p class="q2">
        {display?.agent_name && <b class="mono">{display.agent_name}</b>} <Time at={created_at} relative />,{' '}
        {states[state]}
        {state === 'active' && `, works until ${formatExact(expires_at)}`}
        {suggested_handle && `, for ${suggested_handle}`}
        {boards.length > 0 && `, onto ${boards.map(({ title, name }) => title ?? name).join(', ')}`}
      </p>
      {state === 'active' && (
        <Command line={serverCommand('invite', 'revoke', id)} what="the command that takes it back" />
      )}
    </li>
  );
}
