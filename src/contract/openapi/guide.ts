/** What holds for all operations, as the API description begins with it: paragraphs of Markdown. */
const paragraphs = [
  'Every answer names its request in the log with the header X-Request-Id.',
  "**Credentials.** `x-credentials` says what an operation is called with, as bearer: `PK` a person's access key (`createKey`, or `service key create`), `AG` an agent's token (`joinBoard`, or `service agent create --print-token`), `DG` a delegation, `PC` the proof of a side of a pairing, `IN` a server invite; `BR` is a browser session, whose cookie only the page has.",
  '**Repeats.** `x-idempotency` says what an Idempotency-Key does. `K` and `R`: the answer is kept for 24 hours, for this credential; the same request, byte for byte, gets it again, with Idempotent-Replayed, and another request under that key is refused with `idempotency_conflict`. Refusals with 422, and most with 404 and 409, are kept as well. `S`: nothing is kept, because the answer holds a secret. `N`: nothing, because a repeat does no harm.',
  '**Refusals.** `error.code` is for programs, `hint` says what to do, `details` has what it is about; `x-archived` tells what is refused on an archived board. After 429, 503 or no answer at all send the same request again, a write under the same Idempotency-Key, and not before Retry-After is over. A write of class `S`, or without a key, may have been done where no answer came or `details.outcome` is `unknown`: look at what is there first. `requestAdminAction` and `selectPairingEndpoint` know a repeat under the same key.',
  '**Pages.** Hand back `next_after` as `after`, with all else as it was, until it is null. The timeline and the log also run backwards: `newest=true`, then `prev_before` as `before`. What takes several names in one text (`kind`, `type`, `boards`, `events`) has commas between them.',
  '**Waiting.** With `wait`, an answer comes once there is something, at the latest after so many seconds. An empty one that comes earlier means: ask again.',
];

/** The general part of the description. @param serverVersion of the server that is described */
export const guide = (serverVersion: string): string =>
  [`Shared boards for people and their software agents. Served by version ${serverVersion}.`, ...paragraphs].join(
    '\n\n',
  );
