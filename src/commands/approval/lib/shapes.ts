/** Parts of the JSON that several `approval` commands print. */
import { answer, named, whole } from '../../../cli/shapes.ts';

export const approvalOutcome = named('ApprovalOutcome', whole(answer('getApproval')));
