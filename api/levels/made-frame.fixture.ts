import type { MadeFrame } from './frame-schedule.ts';

/** A frame of this text, read at block 7. */
export const madeOf = (text: string): MadeFrame => ({
  frame: Buffer.from(text),
  block: { number: 7n, hash: '0x07', timestamp: 7n },
});
