/** The import rules of the source tree, checked over every file of it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Import, readModule } from '../support/modules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Edge extends Import {
  from: string;
  /** The imported file from the repository's root, or the specifier of a package. */
  to: string;
}

const sources = new Map(
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `src/${name.split(path.sep).join('/')}`)
    .sort()
    .map((file) => [file, readFileSync(path.join(root, file), 'utf8')]),
);

const edges: Edge[] = [...sources].flatMap(([from, source]) =>
  readModule(from, source).imports.map((entry) => ({
    ...entry,
    from,
    to: entry.specifier.startsWith('.') ? path.posix.join(path.posix.dirname(from), entry.specifier) : entry.specifier,
  })),
);

const inside = (...folders: string[]) => {
  return (file: string) => folders.some((folder) => file === folder || file.startsWith(`${folder}/`));
};
const any = (...tests: ((file: string) => boolean)[]) => {
  return (file: string) => tests.some((test) => test(file));
};
const ours = inside('src', 'migrations', 'test', 'tools', 'bin');

/** Folders of the server that are no noun: what surrounds the use cases of all nouns. */
const surroundings = ['db', 'http', 'operation', 'text', 'access', 'views', 'live', 'blobs', 'upkeep', 'rates'];
const serverFolder = (file: string): string | undefined => /^src\/server\/([^/]+)\//.exec(file)?.[1];

const contract = inside('src/contract');
const db = inside('src/server/db');
const text = inside('src/server/text');
const access = inside('src/server/access');
const views = inside('src/server/views');
/** Who makes a request, and what its operation asks of boards. */
const caller = inside('src/server/operation/caller.ts', 'src/server/operation/terms.ts');
const rules = (file: string): boolean => /^src\/server\/.*\.rules\.ts$/.test(file);
const stores = (file: string): boolean => /^src\/server\/.*\.store\.ts$/.test(file);
const steps = (file: string): boolean => /^src\/server\/.*\.steps\.ts$/.test(file);
const noun = (file: string): boolean => {
  const folder = serverFolder(file);
  return folder !== undefined && !surroundings.includes(folder);
};
const offered = inside('src/server/operation/usecase.ts', 'src/server/operation/gate.ts');
/** The plain files of a noun. */
const useCase = (file: string): boolean => noun(file) && !rules(file) && !stores(file) && !steps(file);

const show = ({ from, to }: Edge): string => `${from} -> ${to}`;

function expectNone(offending: Edge[]): void {
  const shown = offending.map(show);
  expect([...new Set(shown)]).to.deep.equal([]);
}

/** Imports of our own files from files of one kind that lead to anything else than the named kinds. */
function expectOnly(from: (file: string) => boolean, ...allowed: ((file: string) => boolean)[]): void {
  expectNone(edges.filter((edge) => from(edge.from) && ours(edge.to) && !any(...allowed)(edge.to)));
}

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

describe('imports', () => {
  it('are found in each form they are written in', () => {
    const source = [
      "import 'node:a';",
      "import b, { type B } from './b.ts';",
      "import type { C } from './c.ts';",
      'import {\n  type D1,\n  D2,\n} from "./d.ts";',
      "export { e } from './e.ts';",
      "export type { F } from './f.ts';",
      "export * as g from './g.ts';",
      "export const text = 'import from nothing';",
      "// import('./no.ts')",
      "/* import('./no.ts') */",
      "  const { h } = await import('./h.ts');",
      "type I = import('./i.ts').I;",
      "type J = (typeof import('./j.ts'))['default'];",
      'const url = import.meta.url;',
      "import type from './k.ts';",
    ].join('\n');
    const shown = readModule('form.ts', source).imports.map((entry) => {
      return `${entry.specifier}${entry.typeOnly ? ' type' : ''}${entry.dynamic ? ' dynamic' : ''}`;
    });
    expect(shown).to.deep.equal([
      ...['node:a', './b.ts', './c.ts type', './d.ts', './e.ts', './f.ts type', './g.ts', './k.ts'],
      ...['./h.ts dynamic', './i.ts type dynamic', './j.ts type dynamic'],
    ]);
    expect(edges.map(show)).to.include('src/contract/chain.ts -> src/contract/canonical.ts');
  });

  it('of the contract stay in the contract', () => {
    expectOnly(contract, contract);
  });

  it('of the client lead to the contract only', () => {
    expectOnly(inside('src/client'), inside('src/client'), contract);
  });

  it('of the page lead to the client and the contract only', () => {
    expectOnly(inside('src/web'), inside('src/web', 'src/client'), contract);
  });

  it('of what runs in a browser name no Node built-in', () => {
    const browser = inside('src/contract', 'src/client', 'src/web');
    expectNone(edges.filter(({ from, to }) => browser(from) && to.startsWith('node:')));
  });

  it('of rules lead to the contract, other rules and text only', () => {
    expectOnly(rules, contract, rules, text);
  });

  it('of text lead to the contract only', () => {
    expectOnly(text, text, contract);
  });

  it('of the database lead to no noun', () => {
    expectOnly(db, db, contract, text, inside('migrations'));
  });

  it('of stores lead to the database, the contract, rules and text only', () => {
    expectOnly(stores, db, contract, rules, text);
  });

  it('of access lead to stores, rules, the caller and other files of access only', () => {
    expectOnly(access, access, stores, rules, db, contract, text, caller);
  });

  it('of views lead to stores, rules, access, the caller and other views only', () => {
    expectOnly(views, views, access, stores, rules, db, contract, text, caller);
  });

  it('of views name no write transaction, so that they only read', () => {
    const writing = [...sources].filter(([file, source]) => views(file) && /\bWriteTx\b/.test(source));
    expect(writing.map(([file]) => file)).to.deep.equal([]);
  });

  it('of steps lead to other steps, stores, rules, access, the database and the caller only', () => {
    expectOnly(steps, steps, stores, rules, access, db, contract, text, caller);
  });

  it('of use cases lead to views, steps and what these may import, never to another use case', () => {
    expectOnly(useCase, offered, views, steps, stores, rules, access, db, contract, text, caller);
  });

  it('of the plain files of a noun name what a use case is, because each is one', () => {
    const offering = new Set(edges.filter(({ to }) => offered(to)).map(({ from }) => from));
    expect([...sources.keys()].filter((file) => useCase(file) && !offering.has(file))).to.deep.equal([]);
  });

  it('lead to a use case only where the server is put together', () => {
    const puttingTogether = (file: string): boolean => /^src\/server\/[^/]+\.ts$/.test(file);
    expectNone(edges.filter(({ from, to }) => useCase(to) && !puttingTogether(from)));
  });

  it('of http lead to no noun, and of a noun to no http', () => {
    const http = inside('src/server/http');
    const anyNoun = any(noun, access, views);
    expectNone(edges.filter(({ from, to }) => (http(from) && anyNoun(to)) || (anyNoun(from) && http(to))));
  });

  it('of the web framework stand in http only', () => {
    const koa = ['koa', '@koa/router', 'koa-compose'];
    expectNone(edges.filter(({ from, to }) => koa.includes(packageOf(to)) && !inside('src/server/http')(from)));
  });

  it('of what runs on a user’s machine lead to no server, but for the commands that start or mend one', () => {
    const machine = inside('src/commands', 'src/cli', 'src/local', 'src/daemon', 'src/hook', 'src/mcp');
    const starter = inside(
      'src/commands/serve/index.ts',
      'src/commands/serve/lib/serve.ts',
      'src/commands/serve/lib/team-options.ts',
      'src/commands/serve/lib/workers.ts',
      'src/commands/storage/lib/storage.ts',
      'src/commands/doctor/checks/data.ts',
    );
    const serve = (edge: Edge): boolean => starter(edge.from) && (edge.dynamic || edge.typeOnly);
    expectNone(edges.filter((edge) => machine(edge.from) && inside('src/server')(edge.to) && !serve(edge)));
  });

  it('of the frame lead to no noun, and of a noun’s commands only to what another noun’s share', () => {
    const noun = (file: string): string | undefined => /^src\/commands\/([\w-]+)/.exec(file)?.[1];
    const shared = (file: string): boolean => /^src\/commands\/[\w-]+\/lib\//.test(file);
    const outside = ({ from, to }: Edge): boolean => noun(to) !== undefined && noun(from) !== noun(to);
    expectNone(edges.filter((edge) => outside(edge) && (noun(edge.from) === undefined || !shared(edge.to))));
  });

  it('lead to a command from nowhere: it is loaded by its name', () => {
    const command = (file: string): boolean => /^src\/commands\/([\w-]+\/)?[\w-]+\.ts$/.test(file);
    expectNone(edges.filter(({ to }) => command(to)));
  });

  it('of the server lead to nothing that runs on a user’s machine', () => {
    expectOnly(inside('src/server'), inside('src/server', 'migrations'), contract);
  });

  it('lead from the tools to the sources, never back', () => {
    expectNone(edges.filter(({ to }) => inside('tools')(to)));
  });

  it('of the daemon’s clients take its protocol as types only, so that a hook loads no schema library', () => {
    const client = inside('src/cli', 'src/commands', 'src/hook', 'src/launch', 'src/harness');
    expectNone(edges.filter(({ from, to, typeOnly }) => client(from) && to === 'src/daemon/protocol.ts' && !typeOnly));
  });

  it('of programs’ adapters lead to the daemon’s adapter and references only', () => {
    const adapters = inside('src/harness/adapters');
    const shared = inside('src/daemon/adapter.ts', 'src/daemon/refs.ts');
    expectNone(edges.filter(({ from, to }) => adapters(from) && inside('src/daemon')(to) && !shared(to)));
  });

  it('of the daemon’s texts and connections lead to no part of it that acts on sessions', () => {
    const shared = inside(...['adapter', 'clock', 'log', 'protocol', 'refs'].map((name) => `src/daemon/${name}.ts`));
    const lower = inside('src/daemon/bundle', 'src/daemon/compose', 'src/daemon/server-link', 'src/daemon/journal');
    expectOnly(lower, lower, shared, contract, inside('src/client', 'src/local'));
  });

  it('form no circle, those of types included', () => {
    expect(findCircles(edges)).to.deep.equal([]);
  });
});

describe('the clock', () => {
  it('is read from the transaction in nouns, access and views, never from the process', () => {
    const offending: string[] = [];
    for (const [file, source] of sources) {
      if (!noun(file) && !access(file) && !views(file)) continue;
      for (const [index, line] of source.split('\n').entries()) {
        if (/\bDate\.now\b|\bnew Date\(\s*\)|\bnew Date\b(?!\()|(?<!new )\bDate\(\)/.test(line)) {
          offending.push(`${file}:${index + 1}: ${line.trim()}`);
        }
      }
    }
    expect(offending).to.deep.equal([]);
  });
});

describe('the terms of an operation', () => {
  const refusing = (code: string): string[] =>
    [...sources]
      .filter(([, source]) => source.includes(`new Refusal('${code}'`))
      .map(([file]) => path.posix.basename(file))
      .sort();

  it('refuse an archived board where operations are run, but for a join code, which names no board', () => {
    expect(refusing('board_archived')).to.deep.equal(['code-validity.steps.ts', 'terms.ts']);
  });

  it('refuse guests, and who is no server admin, where operations are run', () => {
    for (const code of ['guest_not_allowed', 'server_admin_required']) {
      expect(refusing(code), code).to.deep.equal(['terms.ts']);
    }
    const byHand = [...sources].filter(([, source]) =>
      /\brefuseGuest\(|\brequireAdmin\(caller\b|\brequireAdmin\(person\b/.test(source),
    );
    expect(byHand.map(([file]) => path.posix.basename(file)).sort()).to.deep.equal([
      'keys.ts',
      'prune.ts',
      'rename.ts',
      'replay.ts',
      'terms.ts',
    ]);
  });
});

/** One circle for each import that closes one, as `a -> b -> a`. */
function findCircles(imports: Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const trail: string[] = [];
  const circles: string[] = [];
  const visit = (file: string): void => {
    const at = trail.indexOf(file);
    if (at !== -1) circles.push([...trail.slice(at), file].join(' -> '));
    if (at !== -1 || done.has(file)) return;
    trail.push(file);
    for (const other of next.get(file) ?? []) visit(other);
    trail.pop();
    done.add(file);
  };
  for (const file of next.keys()) visit(file);
  return circles;
}
