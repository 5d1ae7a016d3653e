// Given to Node.js before a program: the package of the system keychain is the one of this folder.
import { registerHooks } from 'node:module';

const url = new URL('keytar.mjs', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'keytar' ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
});
