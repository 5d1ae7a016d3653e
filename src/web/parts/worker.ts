/** Addresses of the page's workers. */
import liveUrl from '../live/worker.ts?sharedworker&url';
import verifyUrl from '../record/verify-worker.ts?worker&url';

const own = { live: liveUrl, verify: verifyUrl };

interface Policy {
  createScriptURL(url: string): unknown;
}
let policy: Policy | null = null;

/** The address of a worker, as a TrustedScriptURL where the browser enforces Trusted Types. */
export function workerUrl(name: keyof typeof own): string {
  const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): Policy } };
  if (!trustedTypes) return own[name];
  policy ??= trustedTypes.createPolicy('board-workers', {
    createScriptURL(url: string): string {
      if (Object.values(own).includes(url)) return url;
      throw new TypeError(`not a worker of this page: ${url}`);
    },
  });
  return policy.createScriptURL(own[name]) as string;
}
