/** Parts of the JSON that several `invite` commands print. */
import { answer } from '../../../cli/shapes.ts';

export const invite = answer('getInvite');
