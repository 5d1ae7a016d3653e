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

const on = (baseUrl: string): string => `--server ${shellArgument(baseUrl, null)}`;

export const listStep = (baseUrl: string): NextStep => ({
  command: `service pairing list ${on(baseUrl)}`,
  resume: 'It shows what became of the request, and which side is next.',
});

/** Undefined once it has ended. */
export function pairingStep({ id, state, awaiting, reader }: Waiting, baseUrl: string): NextStep | undefined {
  const board_view = `${baseUrl}/inbox/pairings/${id}`;
  switch (state) {
    case 'awaiting_account':
      return {
        command: `service invite list ${on(baseUrl)}`,
        resume: 'Nobody has come by the invite yet: hand its link over again, or revoke it and make another.',
        board_view,
      };
    case 'awaiting_session':
    case 'awaiting_endpoint':
      return awaiting === 'recipient' || (awaiting === 'both' && reader !== 'initiator')
        ? {
            command: `service pairing accept ${id} --here ${on(baseUrl)}`,
            resume: 'Run it in the session that should do the work, for the recipient.',
            board_view,
          }
        : {
            command: `service pairing select ${id} --here ${on(baseUrl)}`,
            resume: 'Run it in the session that should do the work, for the initiator.',
            board_view,
          };
    case 'verifying':
      return {
        command: `service pairing list ${on(baseUrl)}`,
        resume: `The two sessions show each other that messages arrive; next is ${awaiting === 'both' ? 'either side' : `the ${awaiting}`}.`,
        board_view,
      };
    default:
      return undefined;
  }
}
