/** Markdown as plain text, in lists and questions of the page: its markup goes, signs that mark nothing stay. */
import { expect } from 'chai';
import { plainText } from '../../src/web/parts/plain-text.ts';

describe('Markdown as plain text', () => {
  const same = [
    'Delete build/*?',
    'Delete build/** and dist/**?',
    'Remove *.log, *.tmp and **/*.bak, or src/**/*.js?',
    'Copy *.log,*.tmp?',
    'Run it at */5 * * * * or 0 */2 * * *?',
    'Is 2 * 3 * 4 the same as 2**3 and 3**2?',
    'Keep build-* and *-dist?',
    'Is a lone *star or _line wrong?',
    'Rename snake_case and other_case to __init__.py?',
    'Which of *_test.go and _private is it?',
    'Is ~5 ~~ 6?',
    'Is **/dist/** or **/*.tmp ignored, **/build and src/** too?',
    'Keep build-** and **-dist, **.log and **.tmp, a/**, **/b?',
  ];
  for (const text of same) it(`is what was written: ${text}`, () => expect(plainText(text)).to.equal(text));

  const marked: [string, string][] = [
    ['Is **this** the *right* one?', 'Is this the right one?'],
    ['__Which__ of _the two_, **(a)** or *“b”*?', 'Which of the two, (a) or “b”?'],
    ['***All*** of **_it_** and _**that**_?', 'All of it and that?'],
    [
      '**Two\nlines** and **2 * 3** of *snake_case* in _snake_case_?',
      'Two lines and 2 * 3 of snake_case in snake_case?',
    ],
    ['Is ~~that~~ *`code *.log`* **`x`**?', 'Is that code *.log x?'],
    ['这是**重点**吗？', '这是重点吗？'],
    ['Is \\*this\\* **it**?', 'Is *this* it?'],
    ['Run **--dry-run --all** first, or “**-n**”?', 'Run --dry-run --all first, or “-n”?'],
    [
      '**.env** and **./run** are missing in **src/web/**, **/api/v1** is down.',
      '.env and ./run are missing in src/web/, /api/v1 is down.',
    ],
    ['See __init__.py and __this__?', 'See __init__.py and this?'],
  ];
  for (const [text, plain] of marked) it(`loses its markup: ${text}`, () => expect(plainText(text)).to.equal(plain));
});
