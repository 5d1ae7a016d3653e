/**
 * The server screen: people, settings, invites and keys. A browser session may not change them, so every change is
 * shown as a command for the terminal.
 */
import './server.css';
import { session } from '../api/session.ts';
import { About } from './about.tsx';
import { Invites } from './invites.tsx';
import { Keys } from './keys.tsx';
import { People } from './people.tsx';
import { Settings } from './settings.tsx';

export default function Server() {
  const current = session.value;
  if (!current) return <main class="page" id="main" />;
  const { server_role: role } = current.person;
  return (
    <main class="page server" id="main">
      <div class="col inorder">
        <h1>{location.host}</h1>
        <About />
        <Keys current={current} />
        {role !== 'guest' && <People me={current.person} />}
        <Settings role={role} />
        {role !== 'guest' && <Invites role={role} />}
      </div>
    </main>
  );
}
