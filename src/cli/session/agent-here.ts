/** Whether an agent runs the command, told before anything is read. */
import { environmentToken } from '../../local/actors.ts';
import { runtime } from '../runtime.ts';
import { inSession } from './here.ts';

/** In a session of its program, or because its seat is selected. */
export function forAgent({ as }: { as?: string | undefined }): boolean {
  const { env } = runtime();
  if (as || inSession() || env.SERVICE_AGENT) return true;
  return environmentToken(env)?.startsWith('aba_') === true;
}
