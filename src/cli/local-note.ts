/** Notes that this machine keeps of what was done. */
import { asProblem } from './errors.ts';
import type { Output } from './output.ts';

/** Waits until a note is kept. Where it cannot be, that is only warned of: what it is about is done. @param lost what is not known here later */
export async function keepNote(note: Promise<unknown>, out: Output, lost: string): Promise<void> {
  await note.catch((error: unknown) => {
    const { code, message, hint } = asProblem(error).body.error;
    out.warn(code, `${lost}: ${message}`, hint);
  });
}
