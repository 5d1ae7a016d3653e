/**
 * Wake-ups: watchers of a key are called after a commit that concerns it. A wake-up carries neither content nor
 * authority; it may come late, twice or merged, and only ever leads to a fresh, authorised read.
 *
 * Keys: `board:<id>`, `presence:<board id>`, `credential:<key, session, seat or person id>`, `account:<person id>`, `positions:<person id>`, `onboarding:<person id>`, `notices:<member id>`, `seat:<member id>`, `machine:<request id>`, `boards`.
 */
type Watcher = () => void;

export class Notifier {
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #watchingAll: ((key: string) => void)[] = [];
  /** How often something was published. */
  published = 0;

  /** Calls `watcher` whenever keys are published of which it watches one, until the returned function is called. */
  watch(keys: readonly string[], watcher: Watcher): () => void {
    for (const key of keys) {
      const set = this.#watchers.get(key) ?? new Set();
      set.add(watcher);
      this.#watchers.set(key, set);
    }
    return () => this.unwatch(keys, watcher);
  }

  /** What the function that `watch` returns does, for those who cannot keep one more function each. */
  unwatch(keys: readonly string[], watcher: Watcher): void {
    for (const key of keys) {
      const set = this.#watchers.get(key);
      set?.delete(watcher);
      if (set?.size === 0) this.#watchers.delete(key);
    }
  }

  /** Calls `watcher` with every key that is published. */
  watchAll(watcher: (key: string) => void): void {
    this.#watchingAll.push(watcher);
  }

  /** Calls each watcher once, however many of its keys these are. */
  publish(keys: Iterable<string>): void {
    this.published++;
    const woken = new Set<Watcher>();
    for (const key of keys) {
      for (const watcher of this.#watchingAll) watcher(key);
      for (const watcher of this.#watchers.get(key) ?? []) woken.add(watcher);
    }
    for (const watcher of woken) watcher();
  }

  /** Wakes everybody: after a time in which wake-ups may have been lost. */
  publishAll(): void {
    this.publish([...this.#watchers.keys()]);
  }

  /** Keys somebody watches now. */
  watched(): string[] {
    return [...this.#watchers.keys()];
  }
}
