import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { type PoolTrend, STEP_SECS, STEPS } from './trends-declaration.ts';

interface SelectedTrend {
  /** Of each step, Q64.64; null for a step without a price. */
  readonly pricesX64: readonly (string | null)[];
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
  const toTs = nowTs - (nowTs % STEP_SECS) + STEP_SECS;
  const fromTs = toTs - STEPS * STEP_SECS;
  const rows = await trends(database, [chainId, pools.map(({ address }) => address), STEP_SECS, fromTs, toTs]);
  return pools.map(({ address }, index) => {
    const { pricesX64 = [], bidRaw = null, askRaw = null } = rows[index] ?? {};
    const prices = pricesX64.map((price) => (price === null ? null : BigInt(price)));
    const depth = bidRaw === null && askRaw === null ? null : { bps: BPS, bidRaw, askRaw };
    return { poolAddress: address, changesE6: changesOf(prices), depth };
  });
}

/** Gives each price as its change from the first one that is known and not zero. A trade of dust may have any price. */
function changesOf(prices: readonly (bigint | null)[]): (number | null)[] {
  const first = prices.find((price) => price !== null && price > 0n) ?? null;
  const changeOf = (price: bigint, from: bigint) => Number(((price - from) * ONE_E6) / from);
  return prices.map((price) =>
    price === null || first === null ? null : Math.min(changeOf(price, first), Number.MAX_SAFE_INTEGER),
  );
}
