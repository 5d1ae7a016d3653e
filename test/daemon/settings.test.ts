/** Our hooks in the settings of a harness: put in without touching another byte, and taken out without a trace. */
import { expect } from 'chai';
import fc from 'fast-check';
import { getNodeValue } from 'jsonc-parser';
import { builtinProfile } from '../../src/harness/builtin.ts';
import { commandOf, ownRun, shellWord, wantedGroups } from '../../src/harness/setup/entries.ts';
import { parseJsonc } from '../../src/harness/setup/jsonc.ts';
import { type Trace, withHooks, withoutHooks, withoutRule, withRule } from '../../src/harness/setup/settings.ts';

const claude = builtinProfile('claude-code')!;
const nothing: Trace = { inserted: [], created: [] };
const wanted = (version: string | null, launcher = '/s/bin/service') => wantedGroups(claude, launcher, version);
const put = (text: string, version = '2.1.197', before = nothing) =>
  withHooks(text, 'claude-code', wanted(version), before);
const read = (text: string) =>
  getNodeValue(parseJsonc(text)) as { hooks: Record<string, { hooks: { command: string }[] }[]> };

/** Settings as somebody may have written them, some with hooks of their own. */
const foreign = fc.record({
  type: fc.constant('command'),
  command: fc.constantFrom('lint', 'x hook y z', '/bin/service start', 'a; service hook claude-code prompt'),
});
const hooks = fc.dictionary(
  fc.constantFrom('Stop', 'SessionStart', 'PostToolBatch', 'Other'),
  fc.array(fc.record({ hooks: fc.array(foreign, { maxLength: 2 }) }), { maxLength: 3 }),
  { noNullPrototype: true },
);
const settings = fc.record(
  {
    model: fc.string(),
    env: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
    hooks,
    permissions: fc.record({ allow: fc.array(fc.string()) }, { requiredKeys: [] }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
/** Laid out in different ways; some with comments, trailing commas, other line ends. */
const laidOut = fc
  .tuple(
    settings,
    fc.constantFrom(0, 2, 4, '\t'),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom('', '\n', ' \n\n'),
    fc.boolean(),
    fc.constantFrom('', '\ufeff'),
  )
  .map(([value, indent, comments, commas, tail, windows, mark]) => {
    let text = JSON.stringify(value, null, indent) + tail;
    if (comments) text = `// mine\n${text.replace('{', '{ /* first */')}// end\n`;
    if (commas && indent !== 0) text = text.replaceAll(/(["\]}\w])\n(\s*[\]}])/g, '$1,\n$2');
    return mark + (windows ? text.replaceAll('\n', '\r\n') : text);
  });

describe('settings of a harness', () => {
  it('are as they were once our hooks are out again, in every layout', () => {
    fc.assert(
      fc.property(laidOut, (text) => {
        const done = put(text);
        expect(withoutHooks(done.text, 'claude-code', done)).to.equal(text);
        const ruled = withRule(text, 'Bash(service *)', nothing);
        expect(withoutRule(ruled.text, 'Bash(service *)', ruled)).to.equal(text);
      }),
      { numRuns: 300, examples: [['{\n\t"permissions": {},\n}']] },
    );
  });

  it('keep what others have there, get each of our hooks once, and no change by a second run', () => {
    fc.assert(
      fc.property(laidOut, (text) => {
        const done = put(text);
        expect(put(done.text, '2.1.197', done)).to.deep.equal(done);
        const after = read(done.text);
        for (const { event, group } of wanted('2.1.197')) expect(after.hooks[event]!.at(-1)).to.deep.equal(group);
        const others = Object.entries(read(text).hooks ?? {});
        for (const [event, groups] of others) expect(after.hooks[event]!.slice(0, groups.length)).to.deep.equal(groups);
      }),
      { numRuns: 200 },
    );
  });

  it('come out clean also when somebody else has written into what we made', () => {
    const done = put('{}\n');
    const value = read(done.text);
    value.hooks['Stop']!.push({ hooks: [{ command: 'theirs' }] });
    const reformatted = `${JSON.stringify(value, null, 4)}\n`;
    const out = withoutHooks(reformatted, 'claude-code', done);
    expect(JSON.parse(out)).to.deep.equal({ hooks: { Stop: [{ hooks: [{ command: 'theirs' }] }] } });
    const untouched = JSON.stringify(read(done.text));
    expect(withoutHooks(untouched, 'claude-code', done)).to.equal('{}');
  });

  it('get stale entries replaced where they stand, and doubles removed', () => {
    const done = put('{\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "command": "first" }] }\n    ]\n  }\n}\n');
    const moved = withHooks(done.text, 'claude-code', wanted('2.1.197', '/new/bin/service'), done);
    expect(moved.text).to.equal(done.text.replaceAll('/s/bin/service', '/new/bin/service'));
    expect(withoutHooks(moved.text, 'claude-code', moved))
      .to.include('"first"')
      .and.not.include('service');
    const value = read(done.text);
    value.hooks['SessionEnd']!.push(value.hooks['SessionEnd']![0]!);
    const doubled = JSON.stringify(value);
    expect(read(put(doubled, '2.1.197', done).text).hooks['SessionEnd']).to.have.length(1);
  });

  it('leave a hook of somebody else in one group with ours where it is', () => {
    const [stop] = wanted('2.1.197').filter(({ event }) => event === 'Stop');
    const theirs = { type: 'command', command: 'theirs' };
    const shared = { hooks: { Stop: [{ hooks: [theirs, { ...stop!.group.hooks[0]!, timeout: 1 }] }] } };
    const { hooks: after } = read(put(JSON.stringify(shared)).text);
    expect(after['Stop']).to.deep.equal([{ hooks: [theirs] }, stop!.group]);
  });

  it('name no event that the version does not know, and use what it knows instead', () => {
    const events = (version: string | null) => wanted(version).map(({ event }) => event);
    expect(events('2.1.197')).to.deep.equal([
      'SessionStart',
      'UserPromptSubmit',
      'Stop',
      'PostToolBatch',
      'PreToolUse',
      'PermissionRequest',
      'Elicitation',
      'Notification',
      'SessionEnd',
    ]);
    expect(events('2.1.117')).to.deep.equal([
      'SessionStart',
      'UserPromptSubmit',
      'Stop',
      'PostToolUse',
      'PostToolUseFailure',
      'PreToolUse',
      'PermissionRequest',
      'Elicitation',
      'Notification',
      'SessionEnd',
    ]);
    expect(events('2.0.30')).to.deep.equal(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SessionEnd']);
    expect(events('1.0.50')).to.deep.equal([]);
    expect(events(null)).to.deep.equal(events('2.1.64'));
    const old = put('{}', '2.1.117');
    const newer = put(old.text, '2.1.197', old);
    expect(Object.keys(read(newer.text).hooks)).to.have.members(events('2.1.197'));
    expect(withoutHooks(newer.text, 'claude-code', newer)).to.equal('{}');
  });

  it('are left alone where they are not what the harness reads', () => {
    for (const text of [
      '',
      '{',
      '[]',
      '7',
      '{"hooks":[]}',
      '{"hooks":{"Stop":{}}}',
      '{"a":1,"a":2}',
      '{"a":01}',
      "{'a':1}",
      '{"a":1}x',
      `${'['.repeat(200)}`,
    ])
      expect(() => put(text), text.slice(0, 20)).to.throw();
  });

  it('are written in the order of keys that never changes', () => {
    expect(JSON.stringify(wanted('2.1.197').find(({ event }) => event === 'Stop')!.group)).to.equal(
      '{"hooks":[{"type":"command","command":"/s/bin/service hook claude-code wait","timeout":86400,"asyncRewake":true}]}',
    );
  });

  it('know ours by the program and the last three words only', () => {
    const ours = ['/s/bin/service hook codex tool', "'/with space/service' hook codex tool", 'service hook codex tool'];
    for (const command of ours) expect(ownRun(command, 'codex'), command).to.equal('tool');
    const others = [
      '/s/bin/service hook claude-code tool',
      'env X=1 service hook codex tool',
      '/s/my-service hook codex tool',
      'service hook codex tool; rm x',
      'service $(hook) codex tool',
      'service hook codex',
      7,
      null,
    ];
    for (const command of others) expect(ownRun(command, 'codex'), String(command)).to.equal(null);
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (folder) => {
        const launcher = `/${folder}/service`;
        const simple = !/[\r\n]/.test(launcher);
        if (simple && !folder.includes("'"))
          expect(ownRun(commandOf(launcher, 'codex', 'end'), 'codex')).to.equal('end');
        expect(shellWord(launcher)).to.match(/^'|^[\w@%+=:,./-]+$/);
      }),
    );
  });
});

describe('JSON with comments', () => {
  it('is read as JSON reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(getNodeValue(parseJsonc(text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });
});
