/** Parts of the JSON that several `code` commands print. */
import { answer } from '../../../cli/shapes.ts';

export const newCode = answer('createJoinCode');
export const listedCode = answer('listJoinCodes').shape.join_codes.element;
