import { poolStorage } from '../storage.ts';

/** How packed pools are stored, by the official lenses: bin numbers have 16 bits, a setting lies above the fees. */
export const packedStorage = poolStorage(16);
