import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../src/client/', import.meta.url));
const read = (file: string) => readFileSync(file, 'utf8');

/** What a file imports at run time: everything but `import type` and `export type`. */
function imports(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'"();]*?\bfrom\s+)?['"]([^'"]+)['"]/gm);
  const dynamic = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...dynamic].map((match) => match[1] as string);
}

/** Everything that loading a file loads: our files, and the names of packages. */
function loaded(file: string, seen: Set<string>): void {
  if (seen.has(file)) return;
  seen.add(file);
  for (const name of imports(read(file))) {
    if (name.startsWith('.')) loaded(resolve(dirname(file), name), seen);
    else seen.add(name);
  }
}

describe('client: what it loads', () => {
  it('sees the imports that count', () => {
    const text =
      "import { type A, b } from 'one';\nimport type { C } from 'two';\nexport * from 'three';\nimport 'four';\n";
    expect(imports(`${text}const x = await import('five');`)).to.deep.equal(['one', 'three', 'four', 'five']);
  });

  it('loads two packages and nothing else: no Node.js built-in, no validation library', () => {
    const seen = new Set<string>();
    for (const name of readdirSync(root)) loaded(resolve(root, name), seen);
    const all = [...seen];
    const packages = all.filter((name) => !existsSync(name));
    expect(packages.filter((name) => isBuiltin(name))).to.deep.equal([]);
    expect(packages.sort()).to.deep.equal(['canonicalize', 'eventsource-parser']);
    expect(all.filter((name) => name.includes('nouns'))).to.deep.equal([]);
  });

  it('names no global that only Node.js has', () => {
    for (const name of readdirSync(root)) {
      const code = read(resolve(root, name)).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      expect(code, name).to.not.match(/\b(process|Buffer|setImmediate|require|__dirname|global)\b/);
    }
  });
});
