/** What Codex sends to `/v1/responses`, and an answer that it takes for a model's. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { type Asked, event, type Move } from './scripted.ts';

const item = z.looseObject({
  type: z.string(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  output: z.unknown().optional(),
});
const request = z.looseObject({ input: z.array(item), tools: z.array(z.unknown()).default([]) });

/** Undefined for a side request, which offers no tools. */
export function readResponses(body: unknown): Omit<Asked, 'at'> | undefined {
  const { input, tools } = request.parse(body);
  if (tools.length === 0) return undefined;
  const own = (one: z.infer<typeof item>): boolean => one.role === 'assistant' || one.type === 'function_call';
  const news = input.slice(input.findLastIndex(own) + 1);
  const parts = news.map((one) => ({ role: one.role ?? one.type, text: text([one]) }));
  return { conversation: text(input), news: text(news), parts };
}

export function answerResponses(response: ServerResponse, body: unknown, move: Move): void {
  // After ten seconds the program leaves a command running, which a model then waits on for.
  const running = /Process running with session ID (\d+)/.exec(readResponses(body)?.news ?? '')?.[1];
  const next =
    running && 'say' in move ? called('write_stdin', { session_id: Number(running), chars: '' }) : itemOf(move);
  const id = `resp_${randomUUID()}`;
  event(response, 'response.created', { response: { id } });
  event(response, 'response.output_item.done', { item: next });
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null };
  event(response, 'response.completed', { response: { id, usage: { ...usage, total_tokens: 2 } } });
}

function said(words: string): object {
  const content = [{ type: 'output_text', text: words }];
  return { type: 'message', role: 'assistant', id: `msg_${randomUUID()}`, content };
}

function itemOf(move: Move): object {
  if ('say' in move) return said(move.say);
  if ('run' in move) return called('exec_command', { cmd: move.run });
  return { ...called('spawn_agent', { message: move.delegate }), namespace: 'multi_agent_v1' };
}

function called(name: string, input: object): object {
  const ids = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}` };
  return { type: 'function_call', ...ids, name, arguments: JSON.stringify(input) };
}

function text(items: z.infer<typeof item>[]): string {
  return items.map(({ content, output }) => plain(content ?? output)).join('\n');
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((one) => (typeof one?.text === 'string' ? one.text : '')).join('\n');
}
