import { and, eq, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type pg from 'pg';
import { isUnreadable } from '../db/factory-calibration.ts';
import { queriesOn } from '../db/query-builder.ts';
import { layoutCalibrations, listingWindows, poolListings, priceHealth } from '../db/schema/operator.ts';
import { indexedBlocks, pools } from '../db/schema/read-model.ts';
import { databaseProgram, type JsonOption, onDatabase, type Result, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

const ageSecs = (timestamp: SQLWrapper) => sql<number>`round(extract(epoch FROM now()) - ${timestamp})::int`;

/** One row per indexed chain; ages in seconds. */
function selectStatus(database: pg.Pool) {
  const queries = queriesOn(database);
  const { chainId, blockNumber, blockTimestamp } = indexedBlocks;
  const oldestPrice = sql`(SELECT extract(epoch FROM min(${priceHealth.capturedAt})) FROM ${priceHealth}
    WHERE ${priceHealth.chainId} = ${chainId})`;
  return queries
    .select({
      chainId,
      indexedBlock: blockNumber,
      indexedAgeSecs: ageSecs(blockTimestamp),
      pools: queries.$count(pools, eq(pools.chainId, chainId)),
      listed: queries.$count(poolListings, and(eq(poolListings.chainId, chainId), ne(poolListings.tier, 'black'))),
      healthy: queries.$count(priceHealth, and(eq(priceHealth.chainId, chainId), eq(priceHealth.status, 'healthy'))),
      priceAgeSecs: ageSecs(oldestPrice) as SQL<number | null>,
      listingAgeSecs: ageSecs(listingWindows.generatedAtTs) as SQL<number | null>,
    })
    .from(indexedBlocks)
    .leftJoin(listingWindows, eq(listingWindows.chainId, chainId))
    .orderBy(chainId);
}

/** Factories whose pools are not served, with the reason and the age of that decision, seconds. */
function selectUnreadable(database: pg.Pool) {
  const { chainId, factory, what, decided, decidedAt } = layoutCalibrations;
  return queriesOn(database)
    .select({
      chainId,
      factory,
      reason: sql<string>`${what} || ': ' || ${decided}`,
      decidedSecsAgo: ageSecs(sql`extract(epoch FROM ${decidedAt})`),
    })
    .from(layoutCalibrations)
    .where(isUnreadable)
    .orderBy(chainId, factory);
}

const program = databaseProgram(
  'status',
  'How far each chain is indexed, and how fresh its prices and its listing are. AGE is that of the newest indexed block.',
  ['status', '--silent status -- --json'],
)
  .option('--json', 'print JSON')
  .action(onDatabase((database, _: JsonOption) => report(database)));

async function report(database: pg.Pool): Promise<Result> {
  const [chains, unreadable] = await Promise.all([selectStatus(database), selectUnreadable(database)]);
  const value = chains.map((chain) => ({
    ...chain,
    notServed: unreadable.filter(({ chainId }) => chainId === chain.chainId).map(({ chainId: _, ...row }) => row),
  }));
  const tables = [formatTable(CHAINS, chains), ...(unreadable.length ? [formatTable(NOT_SERVED, unreadable)] : [])];
  return { value, text: tables.join('\n\n') };
}

const CHAINS = {
  CHAIN: 'chainId',
  BLOCK: 'indexedBlock',
  'AGE (S)': 'indexedAgeSecs',
  POOLS: 'pools',
  LISTED: 'listed',
  HEALTHY: 'healthy',
  'OLDEST PRICE (S)': 'priceAgeSecs',
  'LISTING AGE (S)': 'listingAgeSecs',
};

const NOT_SERVED = {
  CHAIN: 'chainId',
  'FACTORY NOT SERVED': 'factory',
  REASON: 'reason',
  'DECIDED (S AGO)': 'decidedSecsAgo',
};

runCommand(program);
