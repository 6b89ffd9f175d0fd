import { poolStorage } from '../storage.ts';

/** How pools of the flat layout are stored: the number of a bin has 8 bits. */
export const flatStorage = poolStorage(8);
