/** The files that tool calls change, as each program names them. */
import { expect } from 'chai';
import { claudeCode } from '../../src/harness/profiles/claude-code.ts';
import { codex } from '../../src/harness/profiles/codex.ts';
import { commandOf, ownRun, wantedGroups } from '../../src/harness/setup/entries.ts';
import { editedFiles } from '../../src/hook/tool-calls.ts';

const patch = `*** Begin Patch
*** Update File: src/http.ts
@@
-*** Update File: src/no.ts
*** Move to: src/web.ts
*** Add File: docs/a b.md
*** Delete File: old.ts
*** End Patch`;

describe('files that tool calls change', () => {
  it("are named by the fields of Claude Code's tools, of several calls at once too", () => {
    const calls = [
      { tool_name: 'Edit', tool_input: { file_path: '/w/a.ts', old_string: 'x' } },
      { tool_name: 'Write', tool_input: { file_path: '/w/b.ts' } },
      { tool_name: 'MultiEdit', tool_input: { file_path: '/w/a.ts' } },
      { tool_name: 'NotebookEdit', tool_input: { notebook_path: '/w/c.ipynb' } },
      { tool_name: 'Read', tool_input: { file_path: '/w/d.ts' } },
      { tool_name: 'Edit', tool_input: { file_path: 7 } },
      { tool_name: 'Edit', tool_input: null },
    ];
    expect(editedFiles(claudeCode, { tool_calls: calls })).to.deep.equal(['/w/a.ts', '/w/b.ts', '/w/c.ipynb']);
    expect(editedFiles(claudeCode, calls[0]!)).to.deep.equal(['/w/a.ts']);
    const many = Array.from({ length: 60 }, (_, n) => ({ tool_name: 'Write', tool_input: { file_path: `${n}` } }));
    expect(editedFiles(claudeCode, { tool_calls: many })).to.have.length(50);
  });

  it('are the headings of a patch of Codex', () => {
    for (const input of [{ command: patch }, { input: patch, other: 1 }])
      expect(editedFiles(codex, { tool_name: 'apply_patch', tool_input: input })).to.deep.equal([
        'src/http.ts',
        'src/web.ts',
        'docs/a b.md',
        'old.ts',
      ]);
    expect(editedFiles(codex, { tool_name: 'shell', tool_input: { command: patch } })).to.deep.equal([]);
  });

  it('are asked for by the tool hook alone, and only with claims', () => {
    for (const profile of [claudeCode, codex]) {
      const commands = (claims: boolean) =>
        wantedGroups(profile, '/s/bin/service', '999.0.0', claims).flatMap(({ group }) =>
          group.hooks.map(({ command }) => command),
        );
      expect(commands(false).filter((command) => command.includes('claims'))).to.deep.equal([]);
      expect(commands(true).filter((command) => command.endsWith(' claims'))).to.deep.equal([
        `/s/bin/service hook ${profile.harness} tool claims`,
      ]);
    }
    expect(ownRun(commandOf('/s/service', 'codex', 'tool', true), 'codex')).to.equal('tool');
    expect(ownRun('/s/service hook codex tool more', 'codex')).to.equal(null);
  });
});
