/** What a module imports and exports, as a parser reads it. */
import { parseSync, Visitor } from 'vite';

export interface Import {
  /** As written, such as `../db/tx.ts`, `node:fs` or `koa`. */
  specifier: string;
  /** What is taken, `default` included; `*` may be any value. */
  names: ReadonlySet<string>;
  /** Erased before the program runs. */
  typeOnly: boolean;
  dynamic: boolean;
}

interface Module {
  /** Static, re-exported, dynamic, and the `import('x').Y` of types. */
  imports: Import[];
  exports: { name: string; isType: boolean }[];
}

/** Reads a module's text; the ending of `file` says which language it is. */
export function readModule(file: string, text: string): Module {
  const { module, program } = parseSync(file, text);
  const imports: Import[] = [];
  // A dynamic import takes names in many forms, such as `.then(({ a }) => …)`, so it may take any name of its file.
  const words = new Set(['default']);
  const add = (specifier: string, names: Iterable<string>, typeOnly: boolean, dynamic = false): void => {
    imports.push({ specifier, names: names instanceof Set ? names : new Set(names), typeOnly, dynamic });
  };
  new Visitor({
    Identifier({ name }) {
      words.add(name);
    },
    // `import { type A }` is not counted as erased, because an empty import of the module is left of it.
    ImportDeclaration({ source, specifiers, importKind }) {
      const names = specifiers.map((one) => {
        if (one.type === 'ImportSpecifier') return nameOf(one.imported);
        return one.type === 'ImportDefaultSpecifier' ? 'default' : '*';
      });
      add(source.value, names, importKind === 'type');
    },
    ExportNamedDeclaration({ source, specifiers, exportKind }) {
      const names = specifiers.map(({ local }) => nameOf(local));
      if (source) add(source.value, names, exportKind === 'type');
    },
    ExportAllDeclaration({ source, exportKind }) {
      add(source.value, ['*'], exportKind === 'type');
    },
    ImportExpression({ source }) {
      if ('value' in source && typeof source.value === 'string') add(source.value, words, false, true);
    },
    TSImportType({ source, qualifier }) {
      const name = qualifier ? text.slice(qualifier.start, qualifier.end).split('.')[0]! : '*';
      add(source.value, [name], true, true);
    },
  }).visit(program);
  const exports = module.staticExports.flatMap(({ entries }) => entries);
  return {
    imports,
    exports: exports.map(({ exportName, isType }) => ({ name: exportName.name ?? 'default', isType })),
  };
}

const nameOf = (name: { name: string } | { value: string }): string => ('name' in name ? name.name : name.value);
