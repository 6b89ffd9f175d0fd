import type pg from 'pg';
import { loadStatement } from '../load-statement.ts';
import { servedSchema } from '../served-schema.ts';
import { inTransaction, type Queryable } from '../transaction.ts';

/** About how many swaps one transaction handles; a minute is never split. */
const SWAPS_PER_RUN = 20_000;
const MINUTE = 60;
/** Stored intervals; `read_model.trade_bars()` reads the longest one that divides the interval of its bars. */
const INTERVAL_SECS = [MINUTE, 300, 3_600, 86_400];
/** The stored interval from which bars of `secs` seconds are made: the longest one that divides `secs`. */
export const storedSecs = (secs: number): number => INTERVAL_SECS.findLast((each) => secs % each === 0) ?? MINUTE;

/** An index, and a chain that it follows. */
interface FollowedChain {
  readonly schema: string;
  readonly chainId: number;
}

const indexesWithSwaps = loadStatement<{ readonly schema: string }>('./indexes-with-swaps.sql', import.meta.url);
const chainsOfIndex = loadStatement<{ readonly chainId: number }>('./chains-of-index.sql', import.meta.url);
const staleMark = loadStatement<FollowedChain>('./stale-mark.sql', import.meta.url);
const deleteStale = loadStatement('./delete-stale.sql', import.meta.url);
const insertMark = loadStatement('./insert-mark.sql', import.meta.url);
const lockMark = loadStatement<{ readonly untilTs: string; readonly untilBlock: string }>(
  './lock-mark.sql',
  import.meta.url,
);
type BatchEnd = { readonly final: string; readonly first: string | null; readonly beyond: string | null };
const batchEnd = loadStatement<BatchEnd>('./end-of-batch.sql', import.meta.url);
const writeMinutes = loadStatement<{ readonly swaps: string }>('./write-minutes.sql', import.meta.url);

/** Every chain of every index, complete or not: a new index has its candles before readers are switched to it. */
async function followedChains(database: Queryable): Promise<FollowedChain[]> {
  const found: FollowedChain[] = [];
  for (const { schema } of await indexesWithSwaps(database, []))
    found.push(...(await chainsOfIndex(database, [], { schema })).map(({ chainId }) => ({ schema, chainId })));
  return found;
}

/**
 * Writes the missing minutes of trades, for all indexes or for one. Only minutes that ended in final blocks are
 * written. After a kill, the next call continues. Several processes may run at once.
 *
 * @param only the schema of an index; default: all indexes
 * @param swapsPerRun about how many swaps one transaction handles
 * @returns number of transactions
 * @throws an error of Postgres; all earlier chains are written
 */
export async function writeTradeMinutes(
  database: pg.Pool,
  only?: string,
  swapsPerRun: number = SWAPS_PER_RUN,
): Promise<number> {
  // Millions of bars may be stale: between two parts of them, minutes that ended are written.
  for (let runs = 0; ; runs++) {
    for (const chain of await followedChains(database)) {
      if (only !== undefined && chain.schema !== only) continue;
      while (await writeBatch(database, chain, swapsPerRun)) runs++;
    }
    if (!(await removeStale(database))) return runs;
  }
}

/** Deletes rows of indexes that were dropped, or rebuilt under the same name. @returns whether there may be more */
async function removeStale(database: pg.Pool): Promise<boolean> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    const [stale] = await staleMark(client, []);
    if (stale === undefined) return false;
    await deleteStale(client, [stale.schema, stale.chainId]);
    return true;
  });
}

/** @returns whether minutes were written, so that there may be more */
async function writeBatch(
  database: pg.Pool,
  { schema, chainId }: FollowedChain,
  swapsPerRun: number,
): Promise<boolean> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    await insertMark(client, [schema, chainId]);
    const [mark] = await lockMark(client, [schema, chainId]);
    if (mark === undefined) return false;
    const toTs = await endOfBatch(client, { schema, chainId }, mark.untilBlock, swapsPerRun);
    if (toTs <= Number(mark.untilTs)) return false;
    const values = [schema, chainId, mark.untilBlock, toTs, INTERVAL_SECS];
    const served = (await servedSchema(client)) ?? schema;
    const [written] = await writeMinutes(client, values, { schema, served });
    return Number(written?.swaps) > 0;
  });
}

/** End of the next batch: start of a minute before which all is final, with about `swapsPerRun` new swaps at most. */
async function endOfBatch(
  client: Queryable,
  { schema, chainId }: FollowedChain,
  untilBlock: string,
  swapsPerRun: number,
): Promise<number> {
  const [found] = await batchEnd(client, [chainId, untilBlock, swapsPerRun], { schema });
  if (found === undefined) return 0;
  const final = minuteOf(found.final);
  if (found.beyond === null) return final;
  return Math.min(final, Math.max(minuteOf(found.beyond), minuteOf(found.first ?? 0) + MINUTE));
}

const minuteOf = (timestamp: string | number): number => Math.floor(Number(timestamp) / MINUTE) * MINUTE;
