/** The people of the server and their roles. */
import type { Person } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { serverCommand } from '../parts/command.tsx';
import { formatCount } from '../parts/number.ts';
import { formatExact } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { useLoad } from '../state/load.ts';
import { CommandList, Section } from './section.tsx';

/** The commands that change a person, as far as the viewer may run them. */
function commandsFor(person: Person, me: Person): [string, string][] {
  const own = person.id === me.id;
  const rename: [string, string] = [
    `Give ${own ? 'yourself' : person.handle} another handle.`,
    serverCommand('people', 'rename', own ? 'me' : person.handle, 'NEW-HANDLE'),
  ];
  if (me.server_role !== 'admin') return own ? [rename] : [];
  const role: [string, string][] =
    person.server_role === 'guest'
      ? []
      : person.server_role === 'admin'
        ? [[`Make ${person.handle} a member again.`, serverCommand('people', 'role', person.handle, 'member')]]
        : [[`Make ${person.handle} an admin.`, serverCommand('people', 'role', person.handle, 'admin')]];
  return [
    ...role,
    rename,
    [
      `See what removing ${person.handle} would end; nothing changes yet.`,
      serverCommand('people', 'remove', person.handle, '--dry-run'),
    ],
    [`Remove ${person.handle} from the server; it asks first.`, serverCommand('people', 'remove', person.handle)],
  ];
}

export function People({ me }: { me: Person }) {
  const load = useLoad(() => readAll('listPeople', 'people'));
  const people = load.value;
  return (
    <Section title="People" load={load}>
      {people && (
        <>
          <p class="q2">{formatCount(people.length, 'person', 'people')}.</p>
          <ul class="list speople">
            {people.map((person) => {
              const changes = commandsFor(person, me);
              return (
                <li key={person.id}>
                  <div class="row w">
                    <Glyph who={{ name: person.handle, kind: 'human', owner: null }} size={28} />
                    <span class="sp">
                      <b>{person.handle}</b> {person.display_name && <span class="q2">{person.display_name}</span>}
                      {person.id === me.id && <span class="q2"> (you)</span>}
                    </span>
                    <span class="srole">{person.server_role}</span>
                    <span class="q2 sm">since {formatExact(person.created_at).replace(/ at .*/, '')}</span>
                  </div>
                  {changes.length > 0 && <CommandList summary={`Change ${person.handle}`} lines={changes} />}
                </li>
              );
            })}
          </ul>
        </>
      )}
    </Section>
  );
}
