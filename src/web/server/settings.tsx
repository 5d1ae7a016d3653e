/** The server's settings. */
import type { ServerRole } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Fact, serverCommand } from '../parts/command.tsx';
import { useLoad } from '../state/load.ts';
import { CommandList, Section } from './section.tsx';

export function Settings({ role }: { role: ServerRole }) {
  const load = useLoad(() => call('getSettings'));
  const settings = load.value;
  return (
    <Section title="Settings" load={load}>
      {settings && (
        <>
          <dl class="frozen">
            <Fact name="Who makes boards">
              {settings.board_creation === 'admins' ? 'admins only' : 'admins and members'}
            </Fact>
            <Fact name="Agents adding people">
              {settings.agents_add_people
                ? 'may be allowed in advance by their person, where a board allows it'
                : 'always ask their person first'}
            </Fact>
          </dl>
          {role === 'admin' ? (
            <CommandList
              summary="Change the settings"
              lines={[
                settings.board_creation === 'admins'
                  ? ['Let members make boards too.', serverCommand('settings', 'set', '--board-creation', 'members')]
                  : ['Let only admins make boards.', serverCommand('settings', 'set', '--board-creation', 'admins')],
                settings.agents_add_people
                  ? [
                      'Have agents always ask before they add people.',
                      serverCommand('settings', 'set', '--agents-add-people', 'off'),
                    ]
                  : [
                      'Let people allow it to their agents in advance.',
                      serverCommand('settings', 'set', '--agents-add-people', 'on'),
                    ],
              ]}
            />
          ) : (
            <p class="q2">An admin of the server changes them.</p>
          )}
        </>
      )}
    </Section>
  );
}
