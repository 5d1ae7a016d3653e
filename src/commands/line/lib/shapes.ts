/** Parts of the JSON that several `line` commands print. */
import { agentLine, member, named, object, text } from '../../../cli/shapes.ts';

export const lineOfAgent = named('LineOfAgent', object({ agent: text, line: agentLine, state: member.shape.state }));
