/** What an answer tells: status, headers and body without what always differs. Equal answers cannot be told apart. */
export function told({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const kept = [...headers].filter(([name]) => !['x-request-id', 'date', 'connection', 'keep-alive'].includes(name));
  return { status, headers: Object.fromEntries(kept), text };
}
