#!/usr/bin/env node
// As much of jq as the README's lines use, for machines that have none: -R reads lines as texts, -r prints texts bare;
// the filter is a path such as .messages[0].seq, or an object with one name and a path.
import { createReadStream } from 'node:fs';

const flags = process.argv.slice(2).filter((arg) => arg.startsWith('-'));
const [filter = '.', file] = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const has = (letter) => flags.some((flag) => /^-\w+$/.test(flag) && flag.includes(letter));

const at = (value, path) => (path.match(/\w+/g) ?? []).reduce((inner, step) => inner?.[step] ?? null, value);
const object = filter.match(/^\{(\w+): (\S+)\}$/);
const pick = (value) => (object ? { [object[1]]: at(value, object[2]) } : at(value, filter));

let rest = '';
const input = file === undefined ? process.stdin : createReadStream(file);
input.setEncoding('utf8');
input.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines.filter((each) => each !== '' || has('R'))) {
    const found = pick(has('R') ? line : JSON.parse(line));
    process.stdout.write(`${has('r') && typeof found === 'string' ? found : JSON.stringify(found)}\n`);
  }
});
