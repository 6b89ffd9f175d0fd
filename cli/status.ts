import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { isUnreadable } from '../db/factory-calibration.ts';
import { loadStatement } from '../db/load-statement.ts';
import { queriesOn } from '../db/query-builder.ts';
import { layoutCalibrations } from '../db/schema/operator.ts';
import { databaseProgram, type JsonOption, onDatabase, type Result, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

/** An indexed chain; ages in seconds. */
interface ChainStatus {
  readonly chainId: number;
  readonly indexedBlock: number;
  readonly indexedAgeSecs: number;
  readonly pools: number;
  readonly listed: number;
  readonly healthy: number;
  readonly priceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
}

const selectStatus = loadStatement<ChainStatus>('./status.sql', import.meta.url);

/** Factories whose pools are not served, with the reason and the age of that decision, seconds. */
function selectUnreadable(database: pg.Pool) {
  const { chainId, factory, what, decided, decidedAt } = layoutCalibrations;
  return queriesOn(database)
    .select({
      chainId,
      factory,
      reason: sql<string>`${what} || ': ' || ${decided}`,
      decidedSecsAgo: sql<number>`round(extract(epoch FROM now() - ${decidedAt}))::int`,
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
  const [chains, unreadable] = await Promise.all([selectStatus(database, []), selectUnreadable(database)]);
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
