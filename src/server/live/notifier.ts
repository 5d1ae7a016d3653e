/**
 * Wake-ups: watchers of a key are called after a commit that concerns it. A wake-up carries neither content nor
 * authority; it may come late, twice or merged, and only ever leads to a fresh, authorised read.
 *
 * Keys: `board:<id>`, `presence:<board id>`, `credential:<key, session, seat or person id>`, `account:<person id>`, `positions:<person id>`, `onboarding:<person id>`, `notices:<member id>`, `seat:<member id>`, `machine:<request id>`, `boards`.
 */
type Watcher = (key: string) => void;

export class Notifier {
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #watchingAll: Watcher[] = [];
  /** How often something was published. */
  published = 0;

  /** Calls `watcher` whenever one of the keys is published, until the returned function is called. */
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
  watchAll(watcher: Watcher): void {
    this.#watchingAll.push(watcher);
  }

  publish(keys: Iterable<string>): void {
    this.published++;
    for (const key of keys) {
      for (const watcher of this.#watchingAll) watcher(key);
      for (const watcher of [...(this.#watchers.get(key) ?? [])]) watcher(key);
    }
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
