/** The rows of the operations without schemas and texts, for clients: they load neither the schemas nor their library. */
import type { OperationRow } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';
import type { ClientRoute } from '../src/contract/routes.ts';

/** The text of `src/contract/routes.ts`. */
export function routesText(): string {
  const rows = Object.entries(operations).map(
    ([name, { method, path, credentials, idempotency, ownReceipt, ok }]: [string, OperationRow]) => {
      const route: ClientRoute = { method, path, credentials, idempotency, ...(ownReceipt && { ownReceipt }), ok };
      return `  ${JSON.stringify(name)}: ${JSON.stringify(route)},`;
    },
  );
  return `// Made by tools/routes.ts from the operations; a test compares them.
// biome-ignore-all format: a line is an operation
import type { Route } from './operation.ts';
import type { OperationName } from './operations.ts';

/** What a client has to know of an operation. */
export type ClientRoute = Pick<Route, 'method' | 'path' | 'credentials' | 'idempotency' | 'ownReceipt' | 'ok'>;

export const routes: Record<OperationName, ClientRoute> = {
${rows.join('\n')}
};
`;
}
