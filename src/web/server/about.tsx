/** Facts about this server. */
import { call } from '../api/client.ts';
import { useLoad } from '../state/load.ts';
import { Section } from './section.tsx';

export function About() {
  const load = useLoad(() => call('getInfo'));
  const info = load.value;
  return (
    <Section title="This server" load={load}>
      {info && (
        <dl class="frozen">
          <div>
            <dt>Address</dt>
            <dd class="mono">{location.origin}</dd>
          </div>
          <div>
            <dt>Version</dt>
            <dd>
              {info.version}
              {info.commit && <span class="q2 mono"> {info.commit.slice(0, 8)}</span>}
            </dd>
          </div>
          <div>
            <dt>Serves</dt>
            <dd>{info.mode === 'local' ? 'one person, on this machine' : 'a team'}</dd>
          </div>
          <div>
            <dt>Keeps its data in</dt>
            <dd>
              {info.storage.db === 'sqlite' ? 'SQLite' : 'Postgres'}, files{' '}
              {{ disk: 'on its disk', db: 'in the database', s3: 'in an object store' }[info.storage.files]}
            </dd>
          </div>
        </dl>
      )}
    </Section>
  );
}
