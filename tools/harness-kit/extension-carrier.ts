/** omp: does what our extension does inside of it, over the same connection to the daemon. */
import { randomBytes } from 'node:crypto';
import { ask, confirmReceived, nextFrame } from '../../src/daemon/control/ask.ts';
import { connectDaemon } from '../../src/daemon/control/client.ts';
import type { Connection, Frame } from '../../src/daemon/control/connection.ts';
import type { Carry, Header } from '../../src/daemon/protocol.ts';
import { textFor } from '../../src/hook/say.ts';
import type { Begin, Carrier, Host } from './carrier.ts';
import type { Step } from './steps.ts';

export class ExtensionCarrier implements Carrier {
  private readonly host: Host;
  private boot = '';
  private connection: Connection | null = null;
  private busy = false;
  private over = true;
  /** The handoffs whose texts the session has, even if the daemon got no confirmation. */
  private added = new Set<string>();

  constructor(host: Host) {
    this.host = host;
  }

  async start(how: Begin, source: string): Promise<void> {
    if (how === 'compact') return this.compacted();
    // Another session replaces this one.
    if (!this.over) await this.leave();
    this.boot = randomBytes(8).toString('hex');
    this.added = new Set();
    this.over = false;
    await this.hold(how === 'fork' ? 'clear' : source, false);
  }

  private async compacted(): Promise<void> {
    const connection = await this.connect();
    try {
      const { note } = await ask(connection, 'register', { ...this.header(), source: 'compact' });
      if (note) this.host.context(note);
    } finally {
      connection.close();
    }
  }

  async prompt(_text: string, wake: boolean): Promise<void> {
    this.busy = true;
    await this.tell({ op: 'prompt', wake });
    if (!wake) await this.askSafely('turn_start');
  }

  async tool({ input = {}, parallel = 1 }: Extract<Step, { do: 'tool' }>): Promise<Record<string, unknown>> {
    const command = input['command'];
    const { subagent } = this.host;
    if (subagent !== null)
      return typeof command === 'string'
        ? { ...input, command: `export SERVICE_SUBAGENT=${subagent}; ${command}` }
        : input;
    await Promise.all(Array.from({ length: parallel }, () => this.askSafely('boundary')));
    return input;
  }

  async endTurn(): Promise<string | null> {
    this.busy = false;
    await this.tell({ op: 'turn_end' });
    return null;
  }

  end(): Promise<void> {
    return this.leave();
  }

  drop(): void {
    this.over = true;
    this.connection?.close();
    this.connection = null;
  }

  private async leave(): Promise<void> {
    await this.tell({ op: 'goodbye' });
    this.drop();
  }

  private async hold(source: string, resumed: boolean): Promise<void> {
    const connection = await this.connect();
    this.connection = connection;
    const launch = this.host.env['SERVICE_LAUNCH'];
    const fields = { source, resumed, capabilities: ['midturn-peer'], ...(launch ? { launch } : {}) };
    await connection.send({ op: 'hello', ...this.header(), ...fields });
    const welcome = await nextFrame(connection, 20_000);
    if (welcome?.event !== 'welcome') throw new Error('the daemon did not welcome the extension');
    const { dropOutput } = this.host.faults;
    if (welcome.note && dropOutput) this.host.faults.dropOutput = false;
    else if (welcome.note) this.host.context(String(welcome.note));
    if (resumed && !this.busy) await this.tell({ op: 'turn_end' });
    const lost = () => (this.connection === connection ? this.reconnect(source) : undefined);
    void this.listen(connection).then(lost, lost);
  }

  /** Reconnects after a lost connection, unless the session has ended. */
  private async reconnect(source: string): Promise<void> {
    while (!this.over) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (this.over) return;
      try {
        return await this.hold(source, true);
      } catch {
        // The daemon is still starting.
      }
    }
  }

  /** Sends a frame. A lost one is not repeated: later frames repeat the state. */
  private async tell(frame: Frame): Promise<void> {
    await this.connection?.send(frame).catch(() => {});
  }

  private header(): Header {
    const { session, options } = this.host;
    return { harness: options.profile.harness, session, boot: this.boot, cwd: options.cwd };
  }

  private connect(): Promise<Connection> {
    const { env, session, options } = this.host;
    const { state, program } = options;
    return connectDaemon({ state, env, start: { program, client: session }, replaceBy: null });
  }

  /** Asks for waiting messages; without a daemon there are none. */
  private askSafely(op: 'turn_start' | 'boundary'): Promise<void> {
    return this.askForText(op).catch(() => {});
  }

  private async askForText(op: 'turn_start' | 'boundary'): Promise<void> {
    const { faults } = this.host;
    const { hangMs } = faults;
    faults.hangMs = 0;
    const started = Number(process.hrtime.bigint() / 1000n);
    if (hangMs > 0) await new Promise((resolve) => setTimeout(resolve, hangMs));
    const connection = await this.connect();
    try {
      const fields = { ...this.header(), started, ...(op === 'boundary' ? { capabilities: ['midturn-peer'] } : {}) };
      const carry = (await ask(connection, op, fields)) as Carry;
      const text = textFor(carry);
      if (text && faults.dropOutput) faults.dropOutput = false;
      else if (text) this.host.context(text);
      if (carry.handoff_id) await confirmReceived(connection, carry.handoff_id);
    } finally {
      connection.close();
    }
  }

  private async listen(connection: Connection): Promise<void> {
    for (;;) {
      const frame = await nextFrame(connection);
      if (frame?.event === 'release') this.over = true;
      if (frame === null || frame.event === 'release' || frame.event === 'bye') return;
      if (frame.event === 'deliver' && !(await this.deliver(connection, frame as Carry))) return connection.close();
    }
  }

  /** @returns false if the extension was killed */
  private async deliver(connection: Connection, carry: Carry): Promise<boolean> {
    const { faults } = this.host;
    const id = carry.handoff_id ?? '';
    const text = textFor(carry);
    this.host.trace({ ev: 'wake', text });
    const killed = faults.killHook;
    faults.killHook = null;
    if (killed === 'answer') return false;
    if (faults.ignoreWake) {
      faults.ignoreWake = false;
      return true;
    }
    if (!this.added.has(id)) {
      this.added.add(id);
      if (this.busy && carry.class === 'owner_only') this.host.context(text);
      else void this.host.wake(text);
    }
    if (killed === 'output') return false;
    await connection.send({ op: 'received', handoff_id: id });
    return true;
  }
}
