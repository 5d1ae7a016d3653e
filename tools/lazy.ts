/** Bundler plugins that load code on first use instead of at the start. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import type { OperationRow } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';

/** Loads the framework's files on first use: a command needs a tenth of them. */
export const lazyFramework: Plugin = {
  name: 'lazy-framework',
  setup({ onLoad, onResolve, resolve }) {
    const inFramework = (file: string): boolean => /node_modules.@oclif.core.lib/.test(file);
    onResolve(
      { filter: /^\.|^node:readline$/ },
      async ({ path, importer, kind, namespace, resolveDir, pluginData }) => {
        if (kind !== 'require-call' || namespace !== 'file' || pluginData === 'real' || !inFramework(importer))
          return undefined;
        if (path === 'node:readline') return { path, namespace: 'lazy' };
        const real = await resolve(path, { importer, kind, resolveDir, pluginData: 'real' });
        return { path: real.path, namespace: 'lazy' };
      },
    );
    onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({
      contents: `let real; const load = () => (real ??= require(${JSON.stringify(path)}));
        module.exports = new Proxy(function () {}, {
          get: (_, name) => load()[name],
          apply: (_, self, words) => load().apply(self, words),
        });`,
      resolveDir: join(path, '..'),
    }));
  },
};

/**
 * Gives the server the operations' rows as plain data, and loads the schemas of a noun on first use: creating all of them
 * takes longer than the rest of a start.
 */
export const lazyContract: Plugin = {
  name: 'lazy-contract',
  async setup({ initialOptions, onLoad, onResolve }) {
    const contract = join(initialOptions.absWorkingDir!, 'src', 'contract');
    onResolve({ filter: /contract\/(operations|openapi\/openapi)\.ts$/ }, ({ path, importer }) =>
      importer.startsWith(join(contract, '..', 'server'))
        ? { path: path.endsWith('openapi.ts') ? 'openapi' : 'operations', namespace: 'contract' }
        : undefined,
    );
    const contents: Record<string, string> = {
      openapi: "export const openapi = (version) => require('./openapi/openapi.ts').openapi(version);",
      operations: await operationsText(contract),
    };
    onLoad({ filter: /.*/, namespace: 'contract' }, ({ path }) => ({
      contents: contents[path]!,
      resolveDir: contract,
    }));
  },
};

/** A module that replaces `contract/operations.ts`: the same rows, with schemas loaded from their nouns on first use. */
async function operationsText(contract: string): Promise<string> {
  const fileOf: Record<string, string> = {};
  for (const file of readdirSync(join(contract, 'nouns'))) {
    const noun = (await import(pathToFileURL(join(contract, 'nouns', file)).href)) as { operations?: object };
    for (const name of Object.keys(noun.operations ?? {})) fileOf[name] = `./nouns/${file}`;
  }
  const rows = Object.entries<OperationRow>(operations).map(([name, { params, query, body, answer, ...row }]) => {
    const shapes = Object.entries({ params, query, body, answer }).flatMap(([part, shape]) => (shape ? [part] : []));
    const words = [JSON.stringify(row), JSON.stringify(shapes), `() => require('${fileOf[name]}').operations.${name}`];
    return `${name}: row(${words.join(', ')}),`;
  });
  return `
    function row(row, shapes, load) {
      for (const part of shapes) {
        const get = () => {
          const value = load()[part];
          Object.defineProperty(row, part, { value });
          return value;
        };
        Object.defineProperty(row, part, { get, configurable: true });
      }
      return row;
    }
    export const operations = {${rows.join('\n')}};`;
}
