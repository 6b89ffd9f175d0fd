import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig, HistoryConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { readServedPools } from '../../quoting/pools/read-served-pools.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';
import type { Side } from './compare-quotes.ts';
import { inputsWorth } from './usd-inputs.ts';

export interface ComparedPoolsDeps {
  readonly database: pg.Pool;
  readonly chain: ChainConfig;
  readonly pools: () => Promise<readonly Pick<KnownPool, 'address' | 'isFunded' | 'valueUsd' | 'token0' | 'token1'>[]>;
  readonly kept: HistoryConfig;
  readonly fiatMaxAgeSecs: number;
}

/** A pool whose quotes are compared. */
export interface ComparedPool {
  readonly pool: ServedPool;
  /** By side, what is sold for what is worth each of {@link USD_AMOUNTS}. */
  readonly inputs: Readonly<Record<Side, readonly (bigint | null)[]>>;
}

interface PriceRow {
  readonly pool: Address;
  readonly usd0: number | null;
  readonly usd1: number | null;
}

const poolsToCompare = loadStatement<PriceRow>('./pools-to-compare.sql', import.meta.url);

/** Reads the most valuable pools that trade, with the amounts to compare. @throws an error of Postgres */
export async function readComparedPools({
  database,
  chain,
  pools,
  kept,
  fiatMaxAgeSecs,
}: ComparedPoolsDeps): Promise<readonly ComparedPool[]> {
  const funded = (await pools()).filter(({ isFunded }) => isFunded).sort((a, b) => b.valueUsd - a.valueUsd);
  const columns = [funded.map(({ token0 }) => token0), funded.map(({ token1 }) => token1)];
  const addresses = funded.map(({ address }) => address);
  const values = [chain.chainId, addresses, kept.persistencePools, fiatMaxAgeSecs, ...columns];
  const prices = new Map((await poolsToCompare(database, values)).map((row) => [row.pool, row]));
  const served = await readServedPools(database, chain, [...prices.keys()]);
  return served.map((pool) => {
    const { usd0 = null, usd1 = null } = prices.get(pool.address) ?? {};
    const inputs = { bids: inputsWorth(usd0, pool.token0.decimals), asks: inputsWorth(usd1, pool.token1.decimals) };
    return { pool, inputs };
  });
}
