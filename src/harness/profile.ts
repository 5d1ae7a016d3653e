/**
 * Profiles describe programs that run agents, as data: how to find one, how to identify its sessions, how text can be
 * delivered to it, and what is installed for that. One file per program; a person may add more as JSON.
 */
import { z } from 'zod';
import { capabilities } from '../daemon/adapter.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,79}$/);
const semver = z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
const line = z.string().min(1).max(500);

/** The placeholders of command lines. */
const PLACEHOLDERS = ['prompt', 'session', 'dir', 'bundle', 'bundle_file', 'model', 'config_dir'];
const argv = z
  .array(line)
  .min(1)
  .max(40)
  .refine((words) => words.every((word) => placeholdersIn(word).every((place) => PLACEHOLDERS.includes(place))), {
    message: `names in braces may only be ${PLACEHOLDERS.join(', ')}`,
  });

function placeholdersIn(word: string): string[] {
  return [...word.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]!);
}

const check = z.strictObject({ run: argv, json_true: z.string().optional() });

const hook = z.strictObject({
  /** The program's name of the event. */
  event: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,79}$/),
  /** The last word of the command that is run. */
  run: name,
  op: z.enum(['session-start', 'prompt', 'wait', 'turn-end', 'tool', 'mark-subagent', 'needs-person', 'end']),
  /** Seconds. */
  timeout: z.int().min(1),
  matcher: z.string().max(200).optional(),
  /** Further keys of the entry. */
  options: z.record(z.string(), z.unknown()).optional(),
  /** The first version that knows the event. */
  since: semver.optional(),
  /** Events used instead by versions that do not know this one. */
  fallback: z.array(z.strictObject({ event: z.string().min(1).max(80), since: semver })).optional(),
  /** What does not work without it, in words for the person. */
  without: line.optional(),
  why: line,
});

const fields = z.array(line).min(1).max(10);

/** Where the JSON that a program prints tells what it used; the fields of a list are added up. */
const usage = z.strictObject({
  input_tokens: fields.optional(),
  output_tokens: fields.optional(),
  cost_usd: fields.optional(),
  /** Those that count the whole conversation instead of this run. */
  of_conversation: z.array(z.enum(['input_tokens', 'output_tokens', 'cost_usd'])).optional(),
});

const install = z.strictObject({
  kind: z.enum(['skill', 'hooks', 'file', 'allow-rule', 'consent']),
  /** Paths with `~` and `{config_dir}`. */
  global: line.optional(),
  project: line.optional(),
  format: z.literal('json').optional(),
  source: line.optional(),
  /** The first version of the program that supports it. */
  since: semver.optional(),
  rule: line.optional(),
  /** SHA-256 of earlier texts that count as not edited. */
  accepts: z.array(z.string().regex(/^[0-9a-f]{64}$/)).optional(),
  text: z.string().min(1).max(2_000).optional(),
});

export const profileSchema = z.strictObject({
  harness: name,
  name: line,
  command: line,
  check_name: line.optional(),
  drives: z.enum(['real', 'reimplementation']),
  checks: z.strictObject({
    installed: check,
    logged_in: check.optional(),
    min_version: semver.optional(),
    /** The newest version that sessions of the real program were tested with. */
    proved_version: semver.optional(),
  }),
  /** Variables that are set in commands of its sessions. */
  session_env: z.array(variable),
  sandbox_env: z.array(variable).optional(),
  sandbox_network_env: z.array(variable).optional(),
  sandbox_fix: line.optional(),
  config_dir: z.strictObject({ env: variable, default: line }).optional(),
  identity: z.strictObject({
    kind: z.enum(['env', 'hook', 'extension', 'runner', 'none']),
    env: variable.optional(),
    root_env: variable.optional(),
    env_file: variable.optional(),
    precedence: z.int().optional(),
    yields_to: z.array(variable).optional(),
  }),
  subagent_identity: z.enum(['none', 'marked']),
  lifecycle: z.strictObject({
    liveness: z.enum(['process', 'connection']),
    outlives_terminal: z.boolean().optional(),
    resume_keeps_id: z.boolean().optional(),
    resume_start: z.enum(['at-open', 'first-turn']).optional(),
    subagent_field: line.optional(),
  }),
  delivery: z.strictObject({
    capabilities: z.array(z.enum(capabilities)),
    queue: argv.optional(),
    wake_echo: z.boolean().optional(),
    /** It tells its agent that a wake-up text does not come from the person. */
    wake_disowned: z.boolean().optional(),
    hooks: z.array(hook).optional(),
    waiting_notice: z.boolean().optional(),
  }),
  limits: z
    .strictObject({
      bundle_bytes: z.int().min(1).max(32_768).optional(),
      context_bytes: z.int().min(1).max(9_000).optional(),
    })
    .optional(),
  reserved_tags: z.array(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/)).optional(),
  plan: z.strictObject({ tool: line, path: line, status_field: line, active: line, text_field: line }).optional(),
  /** Tools that change a file: the field that names it; without, a patch in any field does. */
  edits: z.array(z.strictObject({ tool: line, path: line.optional() })).optional(),
  install: z.array(install),
  interactive: z
    .strictObject({ start: argv, resume: argv.optional(), launch: z.enum(['env', 'prompt']).optional() })
    .optional(),
  headless: z
    .strictObject({
      via: z.enum(['native', 'acp', 'none']),
      /** Without `{prompt}` it reads its prompt from standard input, which other users of the machine do not see. */
      run: argv.optional(),
      resume: argv.optional(),
      session_field: line.optional(),
      /** Where its answer is in the JSON that it prints; without this, all its output is the answer. */
      reply: z.strictObject({ field: line, type: line.optional() }).optional(),
      usage: usage.optional(),
      model: argv.optional(),
    })
    .optional(),
  notes: z.array(line).optional(),
});

export type Profile = z.infer<typeof profileSchema>;
export type Hook = z.infer<typeof hook>;
export type UsageFields = z.infer<typeof usage>;
export type Install = z.infer<typeof install>;
