/** A journal that can be read and not written while a test says so, as on a disk that is full. */
import { type Journal, JournalError } from '../../../src/daemon/journal/journal.ts';

const writes = /^(write|save|update|set|drop|remove|take|watch|retain)/;

export class Breakable {
  broken = false;

  /** The same journal, which throws where it would write. */
  of(journal: Journal): Journal {
    return new Proxy(journal, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (this.broken && writes.test(String(name))) throw new JournalError(new Error('the disk is full'));
          return Reflect.apply(value, target, args) as unknown;
        };
      },
    });
  }
}
