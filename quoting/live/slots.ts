/** The only chain whose slots give the time of a block. */
export const SLOT_CHAIN = 1;
/** Of Ethereum's consensus chain: Unix seconds of slot 0, and seconds per slot. */
const GENESIS_TIME = 1_606_824_023n;
const SLOT_SECS = 12n;

/** When a slot begins, which is the time of its block, Unix seconds. */
export const timeOfSlot = (slot: bigint): bigint => GENESIS_TIME + SLOT_SECS * slot;

/** The slot of a time, Unix seconds. */
export const slotAt = (timestamp: bigint): bigint => (timestamp - GENESIS_TIME) / SLOT_SECS;
