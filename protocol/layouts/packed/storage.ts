import { poolStorage } from '../storage.ts';

/** How pools of the packed layout are stored, as the official lenses read it: bins have 16 bits, a setting lies above the fees. */
export const packedStorage = poolStorage(16);
