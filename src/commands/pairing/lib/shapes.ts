/** Parts of the JSON that several `pairing` commands print. */
import { answer, named, object } from '../../../cli/shapes.ts';

export const pairing = answer('getPairingRequest');
export const oneRequest = named('OnePairingRequest', object({ request: pairing }));
