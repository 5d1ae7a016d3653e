/** Parts of the JSON that several `key` commands print. */
import { answer } from '../../../cli/shapes.ts';

export const listedKeys = answer('listKeys').shape;
