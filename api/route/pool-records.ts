import { and, asc, eq, gt, or, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Address } from 'viem';
import type { Database } from '../../db/connection.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { poolClassifications, priceHealth } from '../../db/schema/operator.ts';
import type { DepthEstimate } from '../../protocol/routing/pool-candidate.ts';
import { inTurns } from '../../runtime/in-turns.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
import type { DepthEstimates, ReportedDepth } from './depth-estimates.ts';

export interface PoolRecordsDeps {
  readonly database: Database;
  readonly directory: PoolDirectory;
  readonly estimates: DepthEstimates;
  readonly chainIds: readonly number[];
  readonly logger: Logger;
}

const REFRESH_MS = 30_000;
/** Rows read at a time: so many are parsed without a pause. */
const SLICE = 200;
const Q64 = 2 ** 64;

type RecordRow = Awaited<ReturnType<typeof selectRecords>>[number];

const asNumber = (column: PgColumn) => sql<number | null>`${column}::float8`;

/** What capture read last of a chain's healthy pools that hold anything, in the order of their addresses. */
function selectRecords(database: Database, chainId: number, after: Address | null) {
  const { pool, balance0Raw, balance1Raw } = priceHealth;
  const isFunded = or(gt(balance0Raw, 0n), gt(balance1Raw, 0n));
  return database
    .select({
      pool,
      sellX64: asNumber(priceHealth.sellPriceX64),
      buyX64: asNumber(priceHealth.buyPriceX64),
      balance0: asNumber(balance0Raw),
      balance1: asNumber(balance1Raw),
      tier: poolClassifications.tier,
    })
    .from(priceHealth)
    .leftJoin(
      poolClassifications,
      and(eq(poolClassifications.chainId, priceHealth.chainId), eq(poolClassifications.pool, pool)),
    )
    .where(
      and(
        eq(priceHealth.chainId, chainId),
        eq(priceHealth.status, 'healthy'),
        isFunded,
        after ? gt(pool, after) : undefined,
      ),
    )
    .orderBy(asc(pool))
    .limit(SLICE);
}

/** Keeps the records of all pools at hand: reads them now and every half minute, in slices that leave the event loop free. */
export function startPoolRecords(deps: PoolRecordsDeps): { stop: () => void } {
  let isReading = false;
  let isStopped = false;
  const refresh = async () => {
    if (isReading) return;
    isReading = true;
    try {
      for (const chainId of deps.chainIds) if (!isStopped) await readChain(deps, chainId);
    } catch (error) {
      if (!isStopped) deps.logger.warn({ err: error }, 'records of pools were not read: routes use those before');
    } finally {
      isReading = false;
    }
  };
  const timer = setInterval(refresh, REFRESH_MS).unref();
  void refresh();
  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

async function readChain({ database, directory, estimates }: PoolRecordsDeps, chainId: number): Promise<void> {
  const table = await directory.table();
  const chain = estimates.of(chainId);
  const recorded = new Set<ServedPool>();
  let rows: readonly RecordRow[];
  let after: Address | null = null;
  do {
    rows = await selectRecords(database, chainId, after);
    await inTurns(rows, (row) => {
      const pool = table.find(chainId, row.pool);
      if (!pool) return;
      chain.record(pool, recordOf(pool, row));
      recorded.add(pool);
    });
    after = rows.at(-1)?.pool ?? null;
  } while (rows.length === SLICE);
  await inTurns(chain.recorded(), (pool) => {
    if (!recorded.has(pool)) chain.record(pool, null);
  });
  chain.allRecorded();
}

/** The whole balance at the pool's best price: more than that it cannot give. */
function recordOf({ immutables: { scale } }: ServedPool, row: RecordRow): ReportedDepth {
  // Raw token1 for a raw token0.
  const unit = Number(scale.multiplier0) / Number(scale.multiplier1) / Q64;
  const [sell, buy] = [(row.sellX64 ?? 0) * unit, (row.buyX64 ?? 0) * unit];
  return {
    bids: claim(sell > 0 ? (row.balance1 ?? 0) / sell : 0, row.balance1 ?? 0),
    asks: claim((row.balance0 ?? 0) * buy, row.balance0 ?? 0),
    tierRank: TIER_RANKS[row.tier ?? 'unclassified'],
  };
}

const claim = (input: number, output: number): DepthEstimate =>
  input > 0 && output > 0 ? { inputs: [input], outputs: [output] } : { inputs: [], outputs: [] };
