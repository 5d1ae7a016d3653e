/** The module (a "mod") that runs in Claude Code and submits prompts from the delivery daemon. */

/** @param launcher the script that hooks run too */
export const modText = (launcher: string): string => `// Written by service init; service uninstall takes it away.
// What your person writes on a board enters the session as their prompt, and nothing of anybody else does.
const argv = [${JSON.stringify(launcher)}, 'hook', 'claude-code', 'door'];

let serving = false;

async function serve($) {
  serving = true;
  let rest = '';
  try {
    for await (const piece of $.process.spawn({ argv })) {
      if (piece.stream !== 'stdout') continue;
      const lines = (rest + piece.text).split('\\n');
      rest = lines.pop();
      for (const line of lines) {
        const { text, as_user } = JSON.parse(line);
        await $.prompt.submit(as_user ? { text, asUser: true } : { text });
      }
    }
  } catch (error) {
    $.ui.log(\`board-service: \${error}\`, { to: 'debug' });
  }
  serving = false;
}

export const register = (on) => {
  on('session.start', async ($, e, next) => {
    const started = await next(e);
    if (e.isInteractive && !serving) void serve($);
    return started;
  });
};
`;
