import type { Address } from 'viem';
import { type SwapAmounts, type SwapOrder, sellAndBuyPrices } from '../../devnet/actions.ts';
import { type DevChain, RevertedError, takenBack } from '../../devnet/dev-chain.ts';

/** Distances from mid, basis points. */
export const DISTANCES = [10n, 25n, 50n, 100n] as const;

/** A pool of a devnet, and how it is swapped. */
export interface TriedPool {
  readonly chain: DevChain;
  readonly address: Address;
  readonly swap: (order: SwapOrder) => Promise<SwapAmounts>;
}

/** @throws Error when the pool shows no prices */
export async function pricesOf({ chain, address }: Pick<TriedPool, 'chain' | 'address'>) {
  const read = await sellAndBuyPrices(chain, address);
  if ('refusal' in read) throw new Error(read.refusal);
  return read;
}

/** What a swap of this exact input takes and gives, and the prices after it, all taken back; null when the pool rejects it. */
function trySwap(pool: TriedPool, zeroForOne: boolean, input: bigint) {
  return takenBack(pool.chain, async () => {
    try {
      const { amount0Delta, amount1Delta } = await pool.swap({
        pool: pool.address,
        zeroForOne,
        amountSpecified: input,
      });
      const [taken, given] = zeroForOne ? [amount0Delta, -amount1Delta] : [amount1Delta, -amount0Delta];
      return { taken, given, ...(await pricesOf(pool)) };
    } catch (error) {
      if (error instanceof RevertedError) return null;
      throw error;
    }
  });
}

/** What the largest exact input gives after which the pool's own price is within a distance from mid: found by swaps alone. */
export async function depthByTrying(pool: TriedPool, zeroForOne: boolean, bps: bigint): Promise<bigint> {
  const { sellX64, buyX64 } = await pricesOf(pool);
  let given = 0n;
  const isWithin = async (input: bigint) => {
    const after = await trySwap(pool, zeroForOne, input);
    if (!after) return false;
    // Compared as fractions.
    const isNear = zeroForOne
      ? after.sellX64 * 20_000n >= (sellX64 + buyX64) * (10_000n - bps)
      : after.buyX64 * 20_000n <= (sellX64 + buyX64) * (10_000n + bps);
    if (isNear && after.given > given) given = after.given;
    return isNear && after.taken === input;
  };
  let [within, beyond] = [0n, 10n ** 15n];
  while (await isWithin(beyond)) [within, beyond] = [beyond, beyond * 8n];
  while (beyond - within > 1n) {
    const middle = (within + beyond) / 2n;
    if (await isWithin(middle)) within = middle;
    else beyond = middle;
  }
  return given;
}
