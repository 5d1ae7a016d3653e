/** The command that comes next for a pairing request. Guidance, never permission. */
import type { NextStep } from '../../contract/errors.ts';
import { shellArgument } from '../../contract/text.ts';
import type { PairingRequest, PairingSide, PairingState } from '../../contract/types.ts';

interface Waiting {
  id: string;
  state: PairingState;
  awaiting: PairingRequest['awaiting'];
  /** The reader's side; null if one person has both. */
  reader: PairingSide | null;
}

/** @param view where the inbox of the page shows the same. */
export const step = (baseUrl: string, command: string, resume: string, view?: string): NextStep => ({
  command: `${command} --server ${shellArgument(baseUrl, null)}`,
  resume,
  ...(view === undefined ? {} : { board_view: `${baseUrl}/inbox/${view}` }),
});

/** What goes with a notice of a request, which may have ended. */
export const listStep = (baseUrl: string): NextStep =>
  step(baseUrl, 'service pairing list --state all', 'It shows what became of the request, and which side is next.');

/** Undefined once it has ended. */
export function pairingStep({ id, state, awaiting, reader }: Waiting, baseUrl: string): NextStep | undefined {
  const to = (command: string, resume: string) => step(baseUrl, command, resume, `pairings/${id}`);
  switch (state) {
    case 'awaiting_account': {
      const resume = 'Nobody has come by the invite yet: hand its link over again, or revoke it and make another.';
      return to('service invite list', resume);
    }
    case 'awaiting_session':
    case 'awaiting_endpoint':
      return awaiting === 'recipient' || (awaiting === 'both' && reader !== 'initiator')
        ? to(`service pairing accept ${id} --here`, 'Run it in the session that should do the work, for the recipient.')
        : to(
            `service pairing select ${id} --here`,
            'Run it in the session that should do the work, for the initiator.',
          );
    case 'verifying': {
      const next = awaiting === 'both' ? 'either side' : `the ${awaiting}`;
      return to('service pairing list', `The two sessions show each other that messages arrive; next is ${next}.`);
    }
    default:
      return undefined;
  }
}
