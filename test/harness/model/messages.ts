/** What Claude Code and omp send to `/v1/messages`, and an answer that it takes for a model's. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { type Asked, event, type Move } from './scripted.ts';

const part = z.looseObject({ type: z.string(), text: z.string().optional(), content: z.unknown().optional() });
const message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part)]) });
const request = z.looseObject({
  model: z.string(),
  messages: z.array(message),
  tools: z.array(z.looseObject({ name: z.string().optional() })).default([]),
});

/** Undefined for a side request, which offers no tools. */
export function readMessages(body: unknown): Omit<Asked, 'at'> | undefined {
  const { messages, tools } = request.parse(body);
  if (tools.length === 0) return undefined;
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const news = messages.slice(last + 1);
  const parts = news.map((one) => ({ role: one.role, text: text([one]) }));
  return { conversation: text(messages), news: text(news), parts };
}

export function answerMessages(response: ServerResponse, body: unknown, move: Move): void {
  const { model, tools } = request.parse(body);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const start = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model, content: [], usage };
  event(response, 'message_start', { message: { ...start, stop_reason: null, stop_sequence: null } });
  if ('say' in move) {
    event(response, 'content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    event(response, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text: move.say } });
  } else {
    const [name, given] = toolCall(move, new Set(tools.map((tool) => tool.name)));
    const call = { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input: {} };
    const input = JSON.stringify(given);
    event(response, 'content_block_start', { index: 0, content_block: call });
    event(response, 'content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: input } });
  }
  event(response, 'content_block_stop', { index: 0 });
  const reason = 'say' in move ? 'end_turn' : 'tool_use';
  event(response, 'message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage });
  event(response, 'message_stop', {});
}

/** By the names that the program has for its tools. */
function toolCall(move: Exclude<Move, { say: string }>, tools: ReadonlySet<unknown>): [string, object] {
  if ('run' in move)
    return tools.has('Bash')
      ? ['Bash', { command: move.run, description: 'A scripted command' }]
      : ['bash', { command: move.run }];
  const agent = { subagent_type: 'general-purpose', description: 'A scripted helper' };
  return tools.has('Agent')
    ? ['Agent', { ...agent, prompt: move.delegate }]
    : ['task', { agent: 'task', task: move.delegate }];
}

function text(messages: z.infer<typeof message>[]): string {
  return messages.map(({ content }) => plain(content)).join('\n');
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((one) => one?.text ?? plain(one?.content)).join('\n');
}
