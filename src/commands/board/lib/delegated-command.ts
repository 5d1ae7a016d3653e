import type { Command } from '@oclif/core/command';
import { BaseCommand } from '../../../cli/base.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import type { Delegated } from './delegated.ts';

/** A command that may act for the session of an agent's program, through the daemon. */
export abstract class DelegatedCommand<T extends typeof Command> extends BaseCommand<T> {
  /** The session of an agent's program that finds boards through the daemon; null where a person or a seat acts. */
  protected async delegated(): Promise<Delegated | null> {
    const { delegatedTo, delegatingSession } = await import('./delegated.ts');
    const session = delegatingSession(this.globals, this.line());
    return session && delegatedTo(session, this.choice('D'));
  }

  /** The server that a session's command means, where its daemon acts there. */
  protected async serverHere(session: SessionHere): Promise<{ url: string }> {
    const { delegatedTo } = await import('./delegated.ts');
    return (await delegatedTo(session, this.choice('D'))).server;
  }
}
