import { poolStorage } from '../storage.ts';

/** How pools of the flat layout are stored: bins have 8 bits. */
export const flatStorage = poolStorage(8);
