/** A machine on which a person has agent programs, and files of theirs. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Home } from './home.ts';

/** A home with programs that only say their version. */
export class Machine extends Home {
  constructor(versions: Record<string, string> = { claude: '2.1.197 (Claude Code)', codex: 'codex-cli 0.169.0' }) {
    super();
    for (const [name, version] of Object.entries(versions)) this.program(name, `echo '${version}'`);
  }

  at(...parts: string[]): string {
    return join(this.dir, ...parts);
  }

  put(path: string, text: string, mode = 0o644): string {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
    chmodSync(this.at(path), mode);
    return text;
  }

  text(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  /** Every file an item was noted for, with the home's own path taken out. */
  written(): Record<string, string> {
    const { items } = JSON.parse(readFileSync(this.path('state', 'installed.json'), 'utf8'));
    return Object.fromEntries(
      items.map(({ path }: { path: string }) => [
        path.replace(this.dir, '~'),
        readFileSync(path, 'utf8').replaceAll(this.dir, '~'),
      ]),
    );
  }
}
