/** Facts about this server. */
import { call } from '../api/client.ts';
import { Fact } from '../parts/command.tsx';
import { useLoad } from '../state/load.ts';
import { Section } from './section.tsx';

export function About() {
  const load = useLoad(() => call('getInfo'));
  const info = load.value;
  return (
    <Section title="This server" load={load}>
      {info && (
        <dl class="frozen">
          <Fact name="Address" class="mono">
            {location.origin}
          </Fact>
          <Fact name="Version">
            {info.version}
            {info.commit && <span class="q2 mono"> {info.commit.slice(0, 8)}</span>}
          </Fact>
          <Fact name="Serves">{info.mode === 'local' ? 'one person, on this machine' : 'a team'}</Fact>
          <Fact name="Keeps its data in">
            {info.storage.db === 'sqlite' ? 'SQLite' : 'Postgres'}, files{' '}
            {{ disk: 'on its disk', db: 'in the database', s3: 'in an object store' }[info.storage.files]}
          </Fact>
        </dl>
      )}
    </Section>
  );
}
