/** Writers that go on while their server is killed and started again: what was not answered is asked for again. */
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import type { Engine } from '../support/databases.ts';
import { newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';

/** So many answers at most between two kills. */
const ANSWERS = 24;

/** What one writer does over and over; `n` counts its turns. */
export type Turn = (run: KilledRun, writer: number, n: number) => Promise<void>;

export class KilledRun {
  /** Answers that were lost. */
  lost = 0;
  readonly #where: Where;
  readonly #luck: Chance;
  #child: Child;
  #url: string;
  #left: number;
  #stopping = false;
  #strike: () => void = () => {};
  #up: Promise<void> = Promise.resolve();

  private constructor(where: Where, luck: Chance, child: Child, url: string) {
    this.#where = where;
    this.#luck = luck;
    this.#child = child;
    this.#url = url;
    this.#left = luck.between(1, ANSWERS);
  }

  static async begin(engine: Engine): Promise<KilledRun> {
    const luck = chance();
    console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
    const where = await newPlace(engine);
    const child = launchServer(where);
    return new KilledRun(where, luck, child, await child.ready);
  }

  /** The server's owner, at the address it has now. */
  get person(): Api {
    return new Api(this.#url, localKey(this.#where.dataDir));
  }

  /** Kills it this often while so many writers go on. */
  async kills(count: number, writers: number, turn: Turn): Promise<void> {
    const loops = Promise.all(Array.from({ length: writers }, (_unused, n) => this.#loop(turn, n)));
    // A writer that fails ends the run at once.
    await Promise.race([this.#killing(count), loops]);
    await loops;
  }

  async #loop(turn: Turn, writer: number): Promise<void> {
    for (let n = 0; !this.#stopping; n++) await turn(this, writer, n);
  }

  async #killing(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      await new Promise<void>((resolve) => {
        this.#strike = resolve;
      });
      let up: () => void = () => {};
      this.#up = new Promise((resolve) => {
        up = resolve;
      });
      await this.#child.kill();
      this.#child = launchServer(this.#where);
      this.#url = await this.#child.ready;
      this.#left = this.#luck.between(1, ANSWERS);
      up();
    }
    this.#stopping = true;
  }

  async end(): Promise<void> {
    expect(await this.#child.stop()).to.equal(0);
    remove(this.#where.dataDir);
  }

  /** The same call again until there is an answer. @param also a refusal that is an answer like any other */
  async until<T extends { status: number; text: string }>(call: (url: string) => Promise<T>, also = 0): Promise<T> {
    for (;;) {
      await this.#up;
      const answer = await call(this.#url).catch(() => null);
      if (--this.#left <= 0) this.#strike();
      if (answer !== null) {
        if (answer.status >= 300 && answer.status !== also) {
          throw new Error(`answered ${answer.status}: ${answer.text}`);
        }
        return answer;
      }
      this.lost++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
