import type { Address } from 'viem';
import { addLiquidity } from '../../devnet/actions.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';
import { deployManualProvider } from '../../devnet/providers.ts';
import { evenShares, type Pair, priceX64, type QuoteWorld, SHARES_OF_ONE } from '../quotes/quote-world.ts';

/** token1 per whole token0. */
export const PRICE = 2_000;

export const quoteAt = (price: number) => ({ bidX64: priceX64(price * 0.999), askX64: priceX64(price * 1.001) });

/** A funded pool whose provider answers anyone, so that copies of it have prices. @param binRange bins on each side */
export async function makeOpenPool({ chain, deployment }: QuoteWorld, pair: Pair, binRange: number): Promise<Address> {
  const { token0, token1, decimals0, decimals1 } = pair;
  const pool = await createPool(chain, deployment, {
    token0,
    token1,
    bins: evenBins(-binRange, binRange, 1_000),
    priceProvider: await deployManualProvider(chain, pair, quoteAt(PRICE)),
    initialAmount0PerShareE18: 10n ** BigInt(decimals0),
    initialAmount1PerShareE18: BigInt(PRICE) * 10n ** BigInt(decimals1),
  });
  const bins = [...evenShares(-binRange, binRange, SHARES_OF_ONE)].map(([bin, shares]) => ({ bin, shares }));
  await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
  return pool;
}
