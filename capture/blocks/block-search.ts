/** A block's place in time. */
export type TimedBlock = { readonly number: number; readonly timestamp: number };

/** Reads the timestamp of a block, Unix seconds. */
export type ReadTimestamp = (blockNumber: number) => Promise<number>;

/**
 * Finds the last block whose timestamp is at or before `timestamp`. It alternates between interpolation, which is quick
 * where blocks come evenly, and halving, which is quick where they do not. So it takes few reads either way.
 *
 * @param low a block at or before that time
 * @param high a block of the chain at or after `low`
 */
export async function findLastBlockUntil(
  timestamp: number,
  low: TimedBlock,
  high: TimedBlock,
  read: ReadTimestamp,
): Promise<TimedBlock> {
  if (high.timestamp <= timestamp) return high;
  let below = low;
  let above = high;
  for (let step = 0; above.number - below.number > 1; step += 1) {
    const middle: number = step % 2 === 0 ? interpolate(timestamp, below, above) : halve(below, above);
    const probe: TimedBlock = { number: middle, timestamp: await read(middle) };
    if (probe.timestamp <= timestamp) below = probe;
    else above = probe;
  }
  return below;
}

/** A block strictly between the two. */
function interpolate(timestamp: number, below: TimedBlock, above: TimedBlock): number {
  const share = (timestamp - below.timestamp) / (above.timestamp - below.timestamp);
  const guess = below.number + Math.floor(share * (above.number - below.number));
  return Math.min(Math.max(guess, below.number + 1), above.number - 1);
}

function halve(below: TimedBlock, above: TimedBlock): number {
  return Math.floor((below.number + above.number) / 2);
}
