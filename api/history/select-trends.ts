import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { averagePriceX64Floor } from '../trades/average-price.ts';
import { type PoolTrend, STEP_SECS, STEPS } from './trends-declaration.ts';

interface SelectedTrend {
  /** Twice the middle of bid and ask at the end of each step, Q64.64; null without a sample. */
  readonly doubledX64: readonly (string | null)[];
  /** Raw amounts of token0 and token1 of the last trade of each step. */
  readonly closes: readonly (readonly [string, string] | null)[];
  readonly bidRaw: string | null;
  readonly askRaw: string | null;
}

const trends = loadStatement<SelectedTrend>('./select-trends.sql', import.meta.url);
const indexedUntil = loadStatement<{ readonly nowTs: number }>('./indexed-until.sql', import.meta.url);
const ONE_E6 = 1_000_000n;
const BPS = 100;

/** Reads how the prices of pools of one chain moved until its newest indexed block. */
export async function selectTrends(
  database: Queryable,
  chainId: number,
  pools: readonly ServedPool[],
): Promise<PoolTrend[]> {
  const [{ nowTs } = { nowTs: 0 }] = await indexedUntil(database, [chainId]);
  const lastTs = nowTs - (nowTs % STEP_SECS);
  const firstTs = lastTs - (STEPS - 1) * STEP_SECS;
  const rows = await trends(database, [chainId, pools.map(({ address }) => address), STEP_SECS, firstTs, lastTs]);
  return pools.map(({ address, immutables }, index) => {
    const { doubledX64 = [], closes = [], bidRaw = null, askRaw = null } = rows[index] ?? {};
    const prices = doubledX64.map((doubled, step) => {
      const close = closes[step];
      if (doubled !== null) return BigInt(doubled) / 2n;
      return close ? averagePriceX64Floor([BigInt(close[0]), BigInt(close[1])], immutables.scale) : null;
    });
    const depth = bidRaw === null && askRaw === null ? null : { bps: BPS, bidRaw, askRaw };
    return { poolAddress: address, changesE6: changesOf(prices), depth };
  });
}

/** Gives each price as its change from the first one that is known and not zero. */
function changesOf(prices: readonly (bigint | null)[]): (number | null)[] {
  const first = prices.find((price) => price !== null && price > 0n) ?? null;
  return prices.map((price) => (price === null || first === null ? null : Number(((price - first) * ONE_E6) / first)));
}
