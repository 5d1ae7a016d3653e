/** The wait for notices beside one for messages, without a server. */
import { expect } from 'chai';
import type { Client } from '../../src/client/client.ts';
import { newNotices } from '../../src/commands/inbox/lib/new-notices.ts';

describe('a wait for notices', () => {
  const { signal } = new AbortController();
  const never = new Promise<never>(() => {});
  let slept: number[];
  beforeEach(() => {
    slept = [];
  });

  /** @param looks ids of the notices that wait, each time the server is asked */
  const clientOf = (...looks: string[][]): Client => {
    let now = 0;
    const sleep = async (ms: number) => {
      slept.push(ms);
      now += ms;
    };
    const call = async () => ({ data: { notices: looks.shift()!.map((id) => ({ id })) } });
    return { environment: { now: () => now, random: () => 0, sleep }, call } as never;
  };

  it('goes on where the agent was told of all that there are, and ends on a newer one', async () => {
    const asked: string[] = [];
    const isNews = async (newest: string) => {
      asked.push(newest);
      return newest === 'second';
    };
    const client = clientOf(['first'], ['first'], ['first', 'second']);
    const notices = await newNotices(client, { messages: never, wait: 60, signal, isNews });
    expect(notices.map(({ id }) => id)).to.deep.equal(['first', 'second']);
    expect(asked).to.deep.equal(['first', 'first', 'second']);
    expect(slept, 'the server is not asked without a pause').to.deep.equal([10_000, 10_000]);
  });

  it('ends with the wait for messages', async () => {
    const isNews = async () => false;
    const { promise: messages, resolve } = Promise.withResolvers<void>();
    const client = clientOf(['first']);
    client.environment.sleep = () => {
      resolve();
      return never;
    };
    expect(await newNotices(client, { messages, wait: 60, signal, isNews })).to.deep.equal([]);
    const refused = newNotices(clientOf(['first']), {
      messages: Promise.reject(new Error('ended')),
      wait: 60,
      signal,
      isNews,
    });
    expect(await refused.catch((error: Error) => error.message)).to.equal('ended');
  });
});
