/** Parts of the JSON that several `machine` commands print. */
import { answer } from '../../../cli/shapes.ts';

export const machineRequest = answer('lookUpMachineRequest');
