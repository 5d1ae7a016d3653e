/** Claude Code: hooks in its settings; a waiting Stop hook wakes an idle session. */
import type { Profile } from '../profile.ts';

/** The first version that accepts prompts from a mod as the person's own. */
const DOOR_SINCE = '2.1.330';

/**
 * A plugin with a module of ours that runs in the program: the way in for the word of its person. It names a path of this
 * machine, so no project gets it, which others may share.
 */
const mod: [string, { text: string } | { source: string }][] = [
  [
    '.claude-plugin/plugin.json',
    {
      text: `${JSON.stringify(
        {
          name: 'board-service',
          version: '1.0.0',
          description: 'Enters what its person writes on a board as a prompt of theirs. Written by service init.',
        },
        undefined,
        2,
      )}\n`,
    },
  ],
  ['hooks/hooks.json', { text: '{ "modules": ["./register.js"] }\n' }],
  ['hooks/register.js', { source: 'claude-code-mod' }],
];

export const claudeCode: Profile = {
  harness: 'claude-code',
  name: 'Claude Code',
  command: 'claude',
  drives: 'real',
  checks: { installed: { run: ['claude', '--version'] }, min_version: '2.1.64', proved_version: '2.1.330' },
  session_env: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'],
  sandbox_env: ['SANDBOX_RUNTIME'],
  sandbox_network_env: ['SANDBOX_RUNTIME'],
  sandbox_fix:
    'service daemon start, in a terminal of its own; then allow service to run outside the sandbox with /sandbox',
  config_dir: { env: 'CLAUDE_CONFIG_DIR', default: '~/.claude' },
  identity: { kind: 'hook', env_file: 'CLAUDE_ENV_FILE', precedence: 10, yields_to: ['CODEX_THREAD_ID'] },
  subagent_identity: 'marked',
  lifecycle: {
    liveness: 'process',
    resume_keeps_id: true,
    resume_start: 'first-turn',
    subagent_field: 'agent_id',
  },
  delivery: {
    capabilities: ['idle-hook', 'turn-start', 'tool-boundary', 'midturn-peer', 'waiting-signal', 'owner-door'],
    wake_echo: true,
    wake_disowned: true,
    waiting_notice: true,
    hooks: [
      {
        event: 'SessionStart',
        run: 'session-start',
        op: 'session-start',
        timeout: 30,
        since: '2.0.22',
        without: 'Commands of a session do not know which session they are in.',
        why: 'Tells which session runs, and gives its commands their identity.',
      },
      {
        event: 'UserPromptSubmit',
        run: 'prompt',
        op: 'prompt',
        timeout: 10,
        since: '1.0.54',
        without: 'What waited does not come with the next prompt.',
        why: 'Tells that a turn starts, and adds what waited quietly.',
      },
      {
        event: 'Stop',
        run: 'wait',
        op: 'wait',
        timeout: 86_400,
        options: { asyncRewake: true },
        since: '2.1.64',
        without: 'An idle session is not woken; messages come with the next prompt.',
        why: 'Waits while the session is idle, and wakes it with what came.',
      },
      {
        event: 'PostToolBatch',
        run: 'tool',
        op: 'tool',
        timeout: 10,
        since: '2.1.118',
        fallback: [
          { event: 'PostToolUse', since: '1.0.65' },
          { event: 'PostToolUseFailure', since: '2.0.56' },
        ],
        without: 'The word of its person waits until the turn ends.',
        why: 'Adds the word of its person between two tool calls, and a notice of what else waits.',
      },
      {
        event: 'PreToolUse',
        run: 'mark-subagent',
        op: 'mark-subagent',
        timeout: 10,
        matcher: 'Bash|Monitor',
        since: '2.1.69',
        without: 'Commands of a subagent act as the session they were started from.',
        why: 'Marks commands of subagents, which may only read.',
      },
      {
        event: 'PermissionRequest',
        run: 'needs-person',
        op: 'needs-person',
        timeout: 10,
        since: '2.0.45',
        without: 'A session that asks its person for permission counts as busy.',
        why: 'Tells that the session asks its person for permission, or a question.',
      },
      {
        event: 'Elicitation',
        run: 'needs-person',
        op: 'needs-person',
        timeout: 10,
        since: '2.1.76',
        without: 'What a tool server asks is not told, only that it asks.',
        why: 'Tells what a tool server asks the person of the session.',
      },
      {
        event: 'Notification',
        run: 'needs-person',
        op: 'needs-person',
        timeout: 10,
        matcher: 'permission_prompt|worker_permission_prompt|elicitation_dialog|elicitation_url_dialog',
        since: '2.0.37',
        without: 'A session whose person is asked by a tool server counts as busy.',
        why: 'Tells that the session waits for its person, where nothing else tells it.',
      },
      {
        event: 'SessionEnd',
        run: 'end',
        op: 'end',
        timeout: 10,
        since: '1.0.85',
        without: 'The end of a session is only seen when its process is gone.',
        why: 'Tells that the session has ended.',
      },
    ],
  },
  reserved_tags: ['system-reminder', 'task-notification'],
  plan: { tool: 'TodoWrite', path: 'todos', status_field: 'status', active: 'in_progress', text_field: 'activeForm' },
  edits: [
    { tool: 'Edit', path: 'file_path' },
    { tool: 'Write', path: 'file_path' },
    { tool: 'MultiEdit', path: 'file_path' },
    { tool: 'NotebookEdit', path: 'notebook_path' },
  ],
  install: [
    {
      kind: 'skill',
      global: '{config_dir}/skills/service/SKILL.md',
      project: '.claude/skills/service/SKILL.md',
    },
    { kind: 'hooks', global: '{config_dir}/settings.json', project: '.claude/settings.local.json', format: 'json' },
    {
      kind: 'allow-rule',
      global: '{config_dir}/settings.json',
      project: '.claude/settings.local.json',
      format: 'json',
      rule: 'Bash(service *)',
    },
    ...mod.map(([path, content]) => ({
      kind: 'file' as const,
      global: `{config_dir}/skills/board-service/${path}`,
      since: DOOR_SINCE,
      ...content,
    })),
    { kind: 'consent', text: 'Sessions that are open now use the new hooks after they are started again.' },
  ],
  interactive: {
    start: ['claude', '{prompt}'],
    resume: ['claude', '--resume', '{session}', '{prompt}'],
    launch: 'env',
  },
  headless: {
    via: 'native',
    run: ['claude', '-p', '--output-format', 'json'],
    resume: ['claude', '-p', '--output-format', 'json', '--resume', '{session}'],
    session_field: 'session_id',
    reply: { field: 'result', type: 'result' },
    usage: {
      input_tokens: ['usage.input_tokens', 'usage.cache_creation_input_tokens', 'usage.cache_read_input_tokens'],
      output_tokens: ['usage.output_tokens'],
      cost_usd: ['total_cost_usd'],
      of_conversation: ['cost_usd'],
    },
    model: ['--model', '{model}'],
  },
};
