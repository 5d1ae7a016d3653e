/**
 * Where the contract of delivery is shown: each row of its table of failures and each of its scenarios, with the test that
 * plays it. A test that is renamed or dropped is missed here.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

type Shown = [file: string, title: string];

const rows: Record<string, Shown[]> = {
  'server down': [
    ['daemon/failure-table', 'server down: that origin backs off'],
    ['daemon/storms', 'the server is killed'],
  ],
  'server answers with another `server_id`': [['daemon/failure-table', 'server answers with another `server_id`']],
  'network blocked in a sandbox': [['cli/session-daemon', 'network blocked in a sandbox']],
  'daemon `kill -9` before the hook took the text': [['daemon/kills', 'before the hook took the text']],
  '... after `handed`, before `received`': [['daemon/kills', 'after `handed`, before `received`']],
  '... after `received`, before confirmation': [['daemon/kills', 'after `received`, before confirmation']],
  '... after confirmation, before ack': [['daemon/kills', 'after confirmation, before ack']],
  '... after ack, before journal write': [['daemon/kills', 'after ack, before journal write']],
  'hook killed by the harness after the answer': [
    ['daemon/wakes', 'hook killed by the harness after the answer'],
    ['daemon/storms', 'hooks are killed before they wrote'],
  ],
  'wake swallowed by the harness': [['daemon/wakes', 'wake swallowed by the harness']],
  'journal full or unwritable': [
    ['cli/daemon-failures', 'journal full: nothing handed, nothing acked'],
    ['daemon/failures', 'journal unwritable: nothing is handed'],
  ],
  'journal corrupt': [['daemon/failures', 'journal corrupt: put aside']],
  'credentials file unreadable or wrong mode': [['daemon/failures', 'credentials file unreadable or wrong mode']],
  "person's key revoked or expired": [['daemon/failure-table', "person's key revoked or expired"]],
  'one agent token replaced elsewhere': [['daemon/failures', 'one agent token replaced elsewhere']],
  'agent removed / left': [
    ['daemon/failures', 'agent removed: its seat ends alone'],
    ['daemon/failure-table', 'agent left: final for that seat'],
  ],
  'board archived': [['daemon/scenarios', 'board archived: reading and acking continue']],
  'board deleted or hidden': [
    ['daemon/scenarios', 'board deleted: own-token 404'],
    ['daemon/failure-table', 'board hidden: own-token 404'],
  ],
  '`board_unavailable` for a seat that is fine': [
    ['daemon/failure-table', '`board_unavailable` for a seat that is fine'],
  ],
  'session ends before confirming': [['daemon/failures', 'session ends before confirming']],
  'session gone for good': [['daemon/failure-table', 'session gone for good']],
  'harness killed': [
    ['daemon/sessions', 'harness killed: closed within 5 s'],
    ['daemon/storms', 'the program with the session is killed'],
  ],
  'session moved to another machine': [['daemon/failure-table', 'session moved to another machine']],
  'queue target absent': [['daemon/failure-table', 'queue target absent']],
  'harness locked or busy': [['daemon/failure-table', 'harness locked or busy']],
  'two hooks of one boundary at once': [['daemon/turns', 'two hooks of one boundary at once']],
  'prompt typed as the turn ends': [
    ['daemon/wakes', 'prompt typed as the turn ends'],
    ['daemon/late-events', 'does not make a session idle that has begun a turn since'],
  ],
  'mode set to `off` between the wake-up and handing': [
    ['daemon/wakes', 'mode set to `off` between the wake-up and handing'],
  ],
  'clock jump': [['daemon/clock-jump', 'clock jump: all waiting uses monotonic time']],
  'disk or process limits on hook start': [['cli/daemon-failures', 'disk or process limits on hook start']],
  'daemon newer / older than client': [
    ['cli/daemon-failures', 'daemon older than client: ten real hooks at once'],
    ['cli/daemon-failures', 'daemon newer than client: it is used as it is'],
  ],
  'profile or harness update breaks an assumption': [
    ['daemon/failure-table', 'profile or harness update breaks an assumption'],
    ['daemon/settings', 'name no event that the version does not know'],
  ],
  'no Unix sockets, unsupported platform': [['cli/daemon-failures', 'no Unix sockets, unsupported platform']],
};

const scenarios: Shown[][] = [
  [
    ['daemon/delivery', 'is confirmed by what it does next, and acknowledged only then'],
    ['bench/delivery', 'How soon an idle session is woken'],
  ],
  [['daemon/wakes', 'gathers what arrives around a delivery into one further bundle']],
  [
    ['daemon/wakes', 'is woken by what concerns it alone'],
    ['daemon/turns', 'begins with everything that waits in focused mode'],
  ],
  [['daemon/turns', 'takes the owner at its next tool call, in full, and others as a notice']],
  [['daemon/kills', 'loses nothing and acknowledges nothing too early']],
  [['daemon/wakes', 'hook killed by the harness after the answer']],
  [['daemon/wakes', 'wake swallowed by the harness']],
  [
    ['daemon/process', 'runs once: of many at once one stays'],
    ['daemon/storms', 'two daemons are started at once'],
  ],
  [['cli/daemon-failures', 'ten real hooks at once replace it exactly once']],
  [['cli/delivery', 'ends a hook that waits when the daemon is stopped, and leaves it stopped']],
  [['daemon/scenarios', 'nothing is handed when the key is revoked between the news and the reading']],
  [['daemon/scenarios', 'board archived: reading and acking continue']],
  [['daemon/scenarios', 'board deleted: own-token 404']],
  [['daemon/failure-table', '`board_unavailable` for a seat that is fine']],
  [['daemon/scenarios', 'each board is acknowledged with its own token, and one that fails is tried again alone']],
  [
    ['daemon/sessions', 'that come back with their id hold their seats again'],
    ['daemon/sessions', 'lose a seat to the session that takes it'],
  ],
  [
    ['daemon/sessions', 'fence what was handed to an older boot'],
    ['daemon/right-session', 'a stale boot gets no text and its callbacks confirm nothing'],
  ],
  [
    ['daemon/scenarios', 'a text forges neither element nor reminder, and reaches no terminal'],
    ['rules/forging.heavy', 'forges no wrapper and no line of ours'],
  ],
  [['daemon/scenarios', 'a giant arrives as its beginning with the command for the rest']],
  [
    ['cli/session-daemon', 'only reads, even as a named seat'],
    ['daemon/right-session', 'a subagent gets no text, by whatever it asks, and confirms nothing'],
  ],
  [
    ['cli/init', 'changes nothing by a second run'],
    ['cli/init', 'is undone byte for byte, with the hooks of others as they were all the time'],
  ],
  [['cli/init', 'names only events that the version knows, and says what is lost']],
  [['daemon/scenarios', 'nothing is handed in a mode that became off meanwhile']],
  [['daemon/scenarios', 'two joins at once make one seat, and the token that is kept works']],
  [
    ['daemon/scenarios', 'a board is made once though the answer is lost'],
    ['cli/session-daemon', 'stops with `server_unreachable` where the daemon is gone'],
  ],
  [
    ['daemon/transport', 'carries no secret in its frames, and neither do log, journal and status'],
    ['daemon/delegating', 'is made once, when it is first needed, and stands in no file'],
    ['cli/conformance', 'proves all that is declared of'],
  ],
  [
    ['daemon/pairing', 'is ready once each agent has answered'],
    ['daemon/pairing', 'ends with the life of the session, and with the daemon'],
  ],
  [['daemon/scenarios', 'a seat with nothing but its own token is woken by its own wait']],
  [['daemon/notices', 'wake an idle session by a decision, come again after a restart']],
  [['cli/run', 'tries again what failed, each time later, and posts one reply']],
];

const sourceOf = (file: string): string => {
  const path = `../${file}${file.startsWith('bench/') ? '.ts' : '.test.ts'}`;
  return readFileSync(new URL(path, import.meta.url), 'utf8');
};
/** Whether it stands there in quotes or words of a title, as it was written. */
const stands = ([file, title]: Shown): boolean => sourceOf(file).replaceAll("\\'", "'").includes(title);

describe('the contract of delivery', () => {
  it('has a test for every row of its table of failures', () => {
    expect(Object.keys(rows)).to.have.length(33);
    for (const [row, shown] of Object.entries(rows))
      for (const one of shown) expect(stands(one), `${row}: ${one.join(' ')}`).to.equal(true);
  });

  it('has a test for every one of its thirty scenarios', () => {
    expect(scenarios).to.have.length(30);
    for (const [n, shown] of scenarios.entries())
      for (const one of shown) expect(stands(one), `scenario ${n + 1}: ${one.join(' ')}`).to.equal(true);
  });
});
