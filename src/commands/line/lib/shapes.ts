/** Parts of the JSON that several `line` commands print. */
import { agentLine, answer, member, named, object, text } from '../../../cli/shapes.ts';

export const lineOfAgent = named('LineOfAgent', object({ agent: text, line: agentLine, state: member.shape.state }));

export const setLineOfAgent = named(
  'LineSetOfAgent',
  object({ ...lineOfAgent.shape, overlaps: answer('setMyLine').shape.overlaps }),
);
