/** Where a request meets its use case: the row of its operation says of which kind it is, and each kind is run in one way. */
import { kindOf, type OperationKind } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Call } from './call.ts';
import { type Credential, credentialOf } from './caller.ts';
import type { Engine } from './engine.ts';
import { reading, runDownload, runRead, runStream, runWait } from './read.ts';
import { type Reply, replyOf, runOpen, runWrite } from './run-write.ts';
import { runUpload } from './upload.ts';
import type { Cases, Offered, Opened, Sendable, UseCases } from './usecase.ts';

/** JSON, now or once what is waited for is there; stored bytes; or what takes over the response for a live stream. */
type Answered = { reply: Reply } | { later: Promise<Reply> } | { bytes: Sendable } | { stream(response: Opened): void };

type AnyCases = Cases<OperationName>;
type Run<Case> = (engine: Engine, offered: Offered<Case>, call: Call) => Promise<Answered>;

const runs: { readonly [Kind in OperationKind]: Run<AnyCases[Kind]> } = {
  info: async (engine, offered, { source }) => ({ reply: replyOf(offered.case.run(source, engine)) }),
  open: async (...request) => ({ reply: await runOpen(...request) }),
  read: async (...request) => ({ reply: replyOf({ answer: await runRead(...request) }) }),
  wait: async (...request) => {
    const found = await runWait(...request);
    if ('answer' in found) return { reply: replyOf(found) };
    return { later: found.later.then((answer) => replyOf({ answer })) };
  },
  write: async (...request) => ({ reply: await runWrite(...request) }),
  stream: async (...request) => ({ stream: await runStream(...request) }),
  upload: async (...request) => ({ reply: await runUpload(...request) }),
  download: async (...request) => ({ bytes: await runDownload(...request) }),
};

/** What HTTP needs of the operations. */
export interface Operations {
  /** What a token is, told by its form alone. @throws Refusal `unauthorized` */
  credential(token: string): Credential;
  /** The token that a browser session's page sends with every write. */
  csrfToken(sessionSecret: string): string;
  /**
   * Reads a credential outside of any operation; counts as a use, and as a request for the operation that is named.
   * Answers whose it is. @throws Refusal unless it works.
   */
  resolve(credential: Credential, name?: OperationName): Promise<{ personId: string }>;
  /** The part of a write that needs no transaction, such as taking secrets out of texts. @throws Refusal */
  prepare(name: OperationName, body: unknown): unknown;
  /** Runs an operation. @throws Refusal */
  run(name: OperationName, call: Call): Promise<Answered>;
}

export function createOperations(engine: Engine, useCases: UseCases): Operations {
  const offered = {} as Record<OperationName, { name: OperationName; case: AnyCases[OperationKind]; run: Run<never> }>;
  for (const name of Object.keys(operations) as OperationName[]) {
    const given = useCases[name];
    const useCase = (typeof given === 'function' ? { run: given } : given) as AnyCases[OperationKind];
    offered[name] = { name, case: useCase, run: runs[kindOf(operations[name])] };
  }
  return {
    credential: (token) => credentialOf(token, engine.root),
    csrfToken: (session) => engine.root.csrfToken(session),
    resolve: (credential, name) =>
      reading(engine, name ?? null, credential, async (_tx, { person }) => ({ personId: person.person_id })),
    prepare(name, body) {
      const useCase = offered[name].case;
      return 'prepare' in useCase && useCase.prepare ? useCase.prepare(body as never) : body;
    },
    run(name, call) {
      const one = offered[name];
      const input = { ...call.input, deps: engine };
      return one.run(engine, one as never, { ...call, input });
    },
  };
}
