/** The block that a builder is building: one above the head. */
export interface PendingBlock {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timeSecs: bigint;
  /** The slot that has this time. */
  readonly slot: bigint;
}

/** How slots are numbered: slot N has the time `genesisSecs + N * slotSecs`. */
export interface SlotTimes {
  /** Time of slot 0, Unix seconds. */
  readonly genesisSecs: bigint;
  readonly slotSecs: bigint;
}

export const ETHEREUM_SLOTS: SlotTimes = { genesisSecs: 1_606_824_023n, slotSecs: 12n };

/**
 * The block of the first slot after a head. A head between two slots, such as one of a setup,
 * counts to the earlier slot.
 *
 * @param head its timestamp in Unix seconds
 * @throws RangeError when the head is older than slot 0
 */
export function blockAfter(
  head: { readonly number: bigint; readonly timestamp: bigint },
  { genesisSecs, slotSecs }: SlotTimes,
): PendingBlock {
  if (head.timestamp < genesisSecs) throw new RangeError(`block ${head.number} is older than slot 0`);
  const slot = (head.timestamp - genesisSecs) / slotSecs + 1n;
  return { number: head.number + 1n, timeSecs: genesisSecs + slot * slotSecs, slot };
}
