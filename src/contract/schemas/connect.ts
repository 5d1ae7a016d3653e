/** What somebody gets who comes onto a server, or brings another machine of theirs onto it. */
import { z } from 'zod';
import { id, person } from './common.ts';
import { newAccessKey } from './keys.ts';

export const connected = z.strictObject({ server_id: id('srv'), person, key: newAccessKey });
