import { setImmediate } from 'node:timers/promises';

/** Waits until what came meanwhile was served. */
export const nextTurn = async (): Promise<void> => setImmediate();
