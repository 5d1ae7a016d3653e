/** Browser sessions as text. */

import { table } from '../../../cli/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/time.ts';
import type { BrowserSession } from '../../../contract/types.ts';

const how = { login_code: 'by a link', access_key: 'with the key itself' };

export const sessionRows = (sessions: BrowserSession[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'KEY', 'STARTED', 'ENDS'],
    sessions.map(({ id, key, started_with, created_at, expires_at }) => [
      id,
      key.name,
      `${showTime(created_at, times)} ${how[started_with]}`,
      showEnd(expires_at, times),
    ]),
  );
