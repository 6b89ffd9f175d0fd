import type pg from 'pg';
import type { Address } from 'viem';
import { addLiquidity, fundAccounts } from '../../devnet/actions.ts';
import { deployPackedProtocol, type PackedDeployment } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';
import { packedQuote } from '../../devnet/scenario/packed-pools.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { setIndexedBlock } from '../harness/onchain-tables.ts';
import { openSeeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { evenShares, makePool, type Pair, type QuoteWorld, SHARES_OF_ONE } from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';

export interface Market {
  /** The last one is of the packed generation. */
  readonly pools: readonly Address[];
  readonly packed: PackedDeployment;
  readonly tokens: readonly Address[];
}

/** Four pools over four tokens, so that there are direct routes and routes of one hop. */
export async function createMarket(world: QuoteWorld): Promise<Market> {
  const [first, second] = [await world.pair(6, 18), await world.pair(18, 6)];
  const between: Pair = { token0: first.token1, token1: second.token0, decimals0: 18, decimals1: 18 };
  const pools: Address[] = [];
  for (const pair of [first, second, between]) {
    const spec = { pair, price: 0.5, bins: evenBins(-4, 4, 1_000), shares: evenShares(-4, 4, SHARES_OF_ONE) };
    pools.push((await makePool(world, spec)).address);
  }
  const packed = await deployPackedProtocol(world.chain, packedVariant('quotient'));
  pools.push(await makePackedPool(world, packed, first));
  return { pools, packed, tokens: [first.token0, first.token1, second.token0, second.token1] };
}

async function makePackedPool({ chain }: QuoteWorld, packed: PackedDeployment, pair: Pair): Promise<Address> {
  const owner = chain.roles.provider;
  for (const token of [pair.token0, pair.token1]) {
    await fundAccounts(chain, packed, token, { accounts: [owner], amount: 10n ** 30n });
  }
  const quote = packedQuote(Q64, 2n * Q64);
  const [bins, shares] = [evenBins(-4, 4, 1_000), SHARES_OF_ONE];
  const pool = await createPool(chain, packed, {
    token0: pair.token0,
    token1: pair.token1,
    bins,
    priceProvider: await deployQuoteProvider(chain, packed, pair, quote),
    initialAmount0PerShareE18: 10n ** 18n,
    initialAmount1PerShareE18: 10n ** 18n / 2n,
  });
  await addLiquidity(chain, packed, { pool, owner, bins: bins.map(({ bin }) => ({ bin, shares })) });
  return pool;
}

/** Writes what the indexer would have written of the market. */
export async function seedMarket(world: QuoteWorld, url: string, client: pg.Pool, market: Market): Promise<void> {
  const { pools, tokens, packed } = market;
  const seeder = openSeeder(url);
  for (const address of tokens) await seedToken(seeder.db, { chainId: world.chain.chainId, address });
  const served = await Promise.all(pools.map((pool) => servedPool(world.chain, world.deployment, pool)));
  const factoryOf = (pool: Address) => (pool === pools.at(-1) ? packed : world.deployment).poolFactory;
  await seedPools(
    seeder.db,
    served.map(({ address, token0, token1, immutables: { scale, lowestBin, highestBin }, immutableProvider }) => ({
      pool: {
        chainId: world.chain.chainId,
        address,
        factory: factoryOf(address),
        token0: token0.address,
        token1: token1.address,
        lowestBin,
        highestBin,
        token0ScaleMultiplier: scale.multiplier0,
        token1ScaleMultiplier: scale.multiplier1,
        ...(immutableProvider === null ? {} : { priceProvider: immutableProvider }),
      },
      state: { total0Scaled: 10n ** 21n, total1Scaled: 10n ** 21n },
    })),
  );
  await seeder.end();
  const { number, timestamp } = await world.chain.client.getBlock();
  await setIndexedBlock(client, { chainId: world.chain.chainId, number: Number(number), timestamp: Number(timestamp) });
}
