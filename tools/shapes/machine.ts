/** What the commands about this machine, its server and the record of a board print with `--json`. */
import { z } from 'zod';
import { answer, count, flag, inbox, named, nextSeq, object, problem, seq, text } from './base.ts';
import { daemonStatus } from './daemon-status.ts';

const started = named(
  'StartedServer',
  object({
    started: flag,
    replaced: z.strictObject({ from: text, to: text }).nullable(),
    pid: z.int().nullable(),
    ui_url: text,
    data_dir: text,
    version: text,
  }),
);
const check = z.strictObject({
  name: text,
  level: z.enum(['ok', 'note', 'warning', 'error']),
  code: text.nullable(),
  message: text,
  fix: text.nullable(),
});
const events = answer('listEvents').shape.events;

const daemon = object({ pid: z.int(), started: flag });

/** A file of ours, or a part of somebody else's. */
const change = z.looseObject({ path: text });
const harness = z.strictObject({ name: text, detected: flag, version: text.nullable(), changes: z.array(change) });

export const machine = {
  init: object({ applied: flag, scope: z.enum(['global', 'project']), harnesses: z.array(harness) }),
  uninstall: object({
    applied: flag,
    server_stopped: flag,
    daemon_stopped: flag,
    files: z.array(change),
    data: z.array(text).nullable(),
    binary: z.strictObject({ path: text, remove: text }),
  }),
  setup: object({
    steps: z.array(z.looseObject({ name: text, state: z.enum(['done', 'needs_you', 'waiting', 'failed']), text })),
  }),
  skill: object({ skill: text }),
  run: object({ session: text, runs: count }),
  'harness:test': object({
    harness: text,
    supported: flag,
    checks: z.array(
      z.strictObject({
        harness: text,
        version: text,
        check: text,
        result: z.enum(['pass', 'fail', 'n/a']),
        reason: text.optional(),
        at: text,
      }),
    ),
  }),
  'daemon:start': daemon,
  'daemon:restart': daemon,
  'daemon:stop': object({ stopped: flag }),
  'daemon:status': daemonStatus,
  'server:start': started,
  'server:restart': started,
  'server:stop': object({ server_stopped: flag, daemon_stopped: flag }),
  'server:info': object({ info: answer('getInfo') }),
  'server:recover-key': object({ handle: text, key_file: text }),
  'storage:check': object({ db: text, files: text, checked: count, missing: z.array(text), corrupt: z.array(text) }),
  'storage:migrate': object({ from: text.nullable(), to: text, applied: z.array(text) }),
  'storage:copy': object({ copied: count, skipped: count, failed: z.array(text) }),
  'audit:verify': object({
    ok: flag,
    server_id: text,
    board_id: text,
    events: count,
    head_seq: seq.nullable(),
    head_hash: text.nullable(),
    payloads_checked: count,
    payloads_withheld: count,
    problem: z.strictObject({ seq, problem: text }).nullable(),
    pinned: z.strictObject({ seq, hash: text, matches: flag }).nullable(),
    pinned_board: z.strictObject({ server_id: text, board_id: text, matches: flag }).nullable(),
  }),
  'audit:log': object({ events, next_after: nextSeq, head_seq: seq }),
  'audit:export': object({ path: text.nullable(), events: count, head: z.unknown() }),
  status: object({
    server_running: flag,
    daemon: z.strictObject({
      running: flag,
      pid: z.int().nullable(),
      version: text.nullable(),
      problem: text.nullable(),
    }),
    setup: z.array(z.strictObject({ harness: text, scope: z.enum(['global', 'project']) })),
    board_source: z.enum(['flag', 'env', 'project_file', 'only', 'agent', 'none']),
    agent: text.nullable(),
    agent_source: z.enum(['flag', 'token', 'env', 'session', 'none']),
    delivery: inbox.shape.delivery_mode.nullable(),
    presence: answer('getMember').shape.presence,
    current_task: inbox.shape.work.shape.oldest_open,
    line: inbox.shape.work.shape.line,
    policy: z.strictObject({ preset: text, visibility: text }).nullable(),
    people: count.nullable(),
    unread: count.nullable(),
    seats: z.array(z.strictObject({ agent: text, board: text, member_id: text })),
    subagent: text.optional(),
    problem: problem.nullable(),
  }),
  doctor: object({ checks: z.array(check), fixed: z.array(text) }),
  version: object({
    version: text,
    commit: text.nullable().optional(),
    commit_time: text.nullable().optional(),
    node: text,
    platform: text,
  }),
  help: object({ commands: z.array(z.strictObject({ command: text, summary: text, aliases: z.array(text) })) }),
  completion: z.union([object({ shell: text, script: text }), object({ shell: text, path: text, installed: flag })]),
};
