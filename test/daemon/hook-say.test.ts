/** Nothing that a message holds reaches a terminal as a control code, or ends the one JSON object a hook prints. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { withoutInvisible } from '../../src/contract/one-line.ts';
import { renderBundle } from '../../src/daemon/bundle/bundle.ts';
import { replaceInvisible } from '../../src/daemon/bundle/invisible.ts';
import { parseMarks, readInput } from '../../src/hook/input.ts';
import { contextOutput, textFor } from '../../src/hook/say.ts';
import { anyCharacter } from '../support/any-character.ts';
import { aMessage } from '../support/messages.ts';

/** Text as a sender who wishes harm would write it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]52;c;eA==\u0007',
        '\u009b31m',
        '\r',
        '\b',
        '\u007f',
        '\u{e0041}',
        '\u{200b}',
        '\u{202e}',
        '\u{e0100}',
        '❤\u{fe0f}',
        '👨\u{200d}👩',
        'ی\u{200c}خ',
        '\n',
        '\t',
      ),
      fc.constantFrom('"}}', '\\"', '</service-message>', '</service-messages>', '<system-reminder>', '\u2028'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('what a hook prints', () => {
  it('has nothing that acts on a terminal or is not seen, and loses nothing else', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const printed = replaceInvisible(text);
        expect(printed).not.to.match(/[\0-\x08\x0b-\x1f\x7f-\x9f\p{Bidi_Control}]/u);
        expect(printed).not.to.match(/[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\ufe0e\ufe0f]]/v);
        expect(printed).to.equal(withoutInvisible(printed));
        expect([...printed]).to.have.length([...text].length);
        const kept = [...text].every((character, at) => {
          const shown = [...printed][at];
          return shown === character || shown === '\ufffd';
        });
        expect(kept).to.equal(true);
      }),
    );
  });

  it('is the text of a message with whole emoji and words', () => {
    const text = '⚠\ufe0f ❤\ufe0f 👨\u200d👩\u200d👧 می\u200cخواهم क्\u200dष';
    const bundle = renderBundle([{ board: 'payments', seat: 'claude', messages: [aMessage(1, { body: text })] }]);
    const output = JSON.parse(contextOutput('UserPromptSubmit', textFor({ bundle })));
    expect(output.hookSpecificOutput.additionalContext.split('\n')).to.include(text);
  });

  it('is one JSON object on one line, whatever stands in it', () => {
    fc.assert(
      fc.property(hostile, hostile, (bundle, notice) => {
        const text = textFor({ bundle, notice });
        const output = contextOutput('UserPromptSubmit', text);
        expect(output).not.to.include('\n');
        expect(JSON.parse(output)).to.deep.equal({
          hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: replaceInvisible(text) },
        });
      }),
    );
  });

  it('tells a wake only by a whole id, and a ticket only in the first line', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const marks = parseMarks(text);
        expect(marks.handoff_id ?? `hnd_${'0'.repeat(32)}`).to.match(/^hnd_[0-9a-f]{32}$/);
        expect(Object.keys(parseMarks(`\n${text} lch_${'a'.repeat(24)}`))).not.to.include('launch');
      }),
    );
    expect(parseMarks(7)).to.deep.equal({});
  });
});

describe('the input of a hook', () => {
  it('is read where it came in time and the hook was held up', async () => {
    const harness = spawn('printf', ['{"session_id":"s"}']);
    const input = readInput(harness.stdout, 200);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(await input).to.deep.equal({ session_id: 's' });
  });

  it('is read where it came in pieces, each in time, and the hook was held up at each of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hook-input-'));
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const harness = openSync(path, constants.O_WRONLY);
    const stream = new Socket({ fd, readable: true, writable: false });
    writeSync(harness, '{"session_id":');
    stream.once('data', () => writeSync(harness, '"s"}'));
    stream.on('data', (piece: Buffer) => {
      if (piece.toString().endsWith('}')) closeSync(harness);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    });
    try {
      expect(await readInput(stream, 100)).to.deep.equal({ session_id: 's' });
    } finally {
      stream.destroy();
      rmSync(folder, { recursive: true });
    }
  });
});
