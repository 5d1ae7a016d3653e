/** The person, the key of this session, and commands for keys. */
import type { CurrentBrowserSession } from '../../contract/types.ts';
import { Fact, serverCommand } from '../parts/command.tsx';
import { formatExact, until } from '../parts/time.tsx';
import { CommandList, Section } from './section.tsx';

export const Keys = ({
  current: { person, key, id, started_with, created_at, expires_at },
}: {
  current: CurrentBrowserSession;
}) => (
  <Section title="You and your key">
    <dl class="frozen">
      <Fact name="You are">
        <b>{person.handle}</b>
        {person.display_name && ` (${person.display_name})`},{' '}
        {person.server_role === 'admin' ? 'an admin' : `a ${person.server_role}`} of this server
      </Fact>
      <Fact name="Key of this session">
        <b class="mono">{key.name}</b>; revoking it signs this browser out
      </Fact>
      <Fact name="Signed in">
        {formatExact(created_at)}, {started_with === 'login_code' ? 'by a link' : 'with the key itself'}
      </Fact>
      <Fact name="Ends">
        {formatExact(expires_at)}, in {until(expires_at)}
      </Fact>
    </dl>
    {person.server_role !== 'guest' && (
      <>
        <p class="q2">A browser can never list, make or revoke keys. Your terminal can:</p>
        <CommandList
          summary="Keys in the terminal"
          lines={[
            ['List your keys, and when each was last used.', serverCommand('key', 'list')],
            [
              'Make a key for another machine or program; it is shown once.',
              serverCommand('key', 'create', 'laptop', '--expires', '90d'),
            ],
            [
              'Revoke the key of this session: this browser and what else uses it end at once.',
              serverCommand('key', 'revoke', key.id),
            ],
          ]}
        />
      </>
    )}
    <CommandList
      summary="Sessions in the terminal"
      lines={[
        ['List the browsers you are signed in with.', serverCommand('key', 'sessions')],
        ['Sign this browser out from elsewhere.', serverCommand('key', 'end-session', id)],
      ]}
    />
  </Section>
);
