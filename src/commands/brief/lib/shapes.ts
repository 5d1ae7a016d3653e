/** Parts of the JSON that several `brief` commands print. */
import { count, object, text } from '../../../cli/shapes.ts';

export const briefPut = object({ name: text, version: count, replaced: count.nullable() });
