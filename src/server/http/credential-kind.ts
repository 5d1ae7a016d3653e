/** Refuses a credential of a kind that the operation does not take, once it is known that the credential works. */
import { refusedKind } from '../operation/gate.ts';
import type { AppOptions, Step } from './context.ts';

export const requireKind =
  ({ operations, site }: AppOptions): Step =>
  ({ state, querystring }, next) => {
    const { credential, operation, params } = state;
    // Of an operation for which nobody signs in.
    if (!credential) return next();
    const told = { params, query: querystring, baseUrl: () => site.baseUrl() };
    const refusal = refusedKind(operation, credential.kind, told);
    if (refusal === null) return next();
    return operations.resolve(credential).then(() => Promise.reject(refusal));
  };
