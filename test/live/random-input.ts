import { type Level, quoteExactIn } from '../../client/math.ts';
import type { Random } from '../../devnet/traffic/random.ts';

/** A random input of a side up to its last level, at times the end of a level; undefined for a closed side. */
export function randomInput(levels: readonly Level[], random: Random) {
  const ends = levels.map(({ cumulativeInputVolume }) => BigInt(cumulativeInputVolume)).filter((end) => end > 0n);
  const most = ends.at(-1);
  if (!most) return undefined;
  const isEnd = random.chance(30);
  const inside = 1n + ((most - 1n) * BigInt(random.integer(0, 1_000_000_000))) / 1_000_000_000n;
  const amountIn = isEnd ? random.pick(ends) : inside;
  return { amountIn, isEnd, quoted: quoteExactIn(levels, amountIn).amountOutFloor };
}
