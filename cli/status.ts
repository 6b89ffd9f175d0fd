import { Command } from 'commander';
import { and, desc, eq, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type pg from 'pg';
import { isUnreadable } from '../db/factory-calibration.ts';
import { queriesOn } from '../db/query-builder.ts';
import {
  layoutCalibrations,
  listingWindows,
  poolListings,
  priceHealth,
  readAttentions,
} from '../db/schema/operator.ts';
import { indexedBlocks, pools } from '../db/schema/read-model.ts';
import { runMain } from '../runtime/run-main.ts';
import { EXIT_CODES, printResult, withDatabase } from './run-command.ts';
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

/** One row per chain and class of pools: how its scheduled reads are served by capture, and its reads ahead by the API. */
function selectAttention(database: pg.Pool) {
  return queriesOn(database)
    .select({
      chainId: readAttentions.chainId,
      class: readAttentions.class,
      pools: readAttentions.pools,
      waiting: readAttentions.waiting,
      backingOff: readAttentions.backingOff,
      oldestPriceSecs: readAttentions.ageSecs,
      callsSpent: readAttentions.callsSpent,
      callsPerMinute: readAttentions.callsPerMinute,
      gasSpent: readAttentions.gasSpent,
      gasPerMinute: readAttentions.gasPerMinute,
      measuredSecsAgo: ageSecs(sql`extract(epoch FROM ${readAttentions.measuredAt})`),
    })
    .from(readAttentions)
    .orderBy(readAttentions.chainId, desc(readAttentions.class));
}

/** Factories whose pools are not served, and since when. */
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

const command = new Command('status')
  .description('How far each chain is indexed, and how fresh its prices and its listing are.')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    `
AGE is that of the newest block in the index. How far the index is behind its chain, the API tells at /ready. READS are the
pools whose prices are read: of worth, wanted by clients, and others; WAITING had their turn and the budget did not pay for
them, BACKOFF failed or burned gas. CALLS and GAS are of the last minute, of those that the budget of the chain has. "ahead"
are the pools that an API process with clients reads at each new block because they are requested: POOLS are requested,
WAITING of them were not read at the last block.
Pools of a FACTORY NOT SERVED are in no answer: storage "none" says that no known arrangement explains theirs.

Examples:
  npm run status
  npm run --silent status -- --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

async function report(database: pg.Pool, json: boolean): Promise<void> {
  const [chains, attention, unreadable] = await Promise.all([
    selectStatus(database),
    selectAttention(database),
    selectUnreadable(database),
  ]);
  const result = chains.map((chain) => ({
    ...chain,
    reads: attention.filter(({ chainId }) => chainId === chain.chainId).map(({ chainId: _, ...row }) => row),
    notServed: unreadable.filter(({ chainId }) => chainId === chain.chainId).map(({ chainId: _, ...row }) => row),
  }));
  const tables = [
    formatTable(CHAINS, chains),
    readsTable(attention),
    ...(unreadable.length ? [formatTable(NOT_SERVED, unreadable)] : []),
  ];
  printResult(json, result, tables.join('\n\n'));
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

const READS = {
  CHAIN: 'chainId',
  READS: 'class',
  POOLS: 'pools',
  WAITING: 'waiting',
  BACKOFF: 'backingOff',
  'OLDEST PRICE (S)': 'oldestPriceSecs',
  CALLS: 'callsSpent',
  'GAS (M)': 'gasSpent',
  'UPDATED (S AGO)': 'measuredSecsAgo',
};

const NOT_SERVED = {
  CHAIN: 'chainId',
  'FACTORY NOT SERVED': 'factory',
  REASON: 'reason',
  'DECIDED (S AGO)': 'decidedSecsAgo',
};

function readsTable(rows: Awaited<ReturnType<typeof selectAttention>>): string {
  const millions = (gas: number) => Math.round(gas / 1e6);
  const cells = rows.map((row) => ({
    ...row,
    callsSpent: `${row.callsSpent} of ${row.callsPerMinute}`,
    gasSpent: `${millions(row.gasSpent)} of ${millions(row.gasPerMinute)}`,
  }));
  return formatTable(READS, cells);
}

runMain(async () => {
  const { json } = command.parse().opts<{ json?: true }>();
  await withDatabase((database) => report(database, json === true));
});
