import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { connectExact } from '../indexing/indexed-pools.ts';
import { checkAudit, checkDeliveries } from './check-quote-updates.ts';
import { type Comparison, compareDatabases } from './compare-databases.ts';
import { compareQuotes } from './compare-quotes.ts';
import { compareWithStorage, differencesOfIndex } from './compare-with-storage.ts';
import type { QuoteUpdates } from './quote-updates.ts';
import type { SupervisedProcess } from './supervised-process.ts';
import type { ReferenceRun, World } from './world.ts';

/** What was found when the dust had settled. */
export interface FinalChecksReport {
  readonly comparison: Comparison;
  /** Pools whose state was compared with the storage of their contracts. */
  readonly pools: number;
  /** Pools and factories that capture compared with the chains, and those that it ever took for different ones. */
  readonly audited: number;
  readonly differed: number;
  /** Honest pools whose quotes were compared. */
  readonly quotes: number;
  /** What differs from the chains, and what was lost or put out of order on the way to the builders. */
  readonly violations: readonly string[];
  /** From the end of the chaos until the index was at the chains' heads. */
  readonly caughtUpMs: number;
}

const RECOVERY_LIMIT_MS = 300_000;
const EQUAL_LIMIT_MS = 120_000;
const POLL_MS = 500;
/** The index learns of a reorganisation with the next block. */
const LAST_BLOCKS = 2;
/** SQLSTATE */
const UNDEFINED_TABLE = '42P01';

/**
 * Waits until everything works again by itself and compares what the service has with what it should have.
 *
 * @throws Error when a process does not come back, or the index does not reach the chains' heads
 */
export async function runFinalChecks(
  world: World,
  updates: QuoteUpdates,
  say: (line: string) => void,
): Promise<FinalChecksReport> {
  const startedAt = performance.now();
  for (const chain of world.chains) await chain.rest(LAST_BLOCKS);
  const reference = await world.startReferenceRun();
  try {
    await catchUp(world, world.processes.indexer, world.databaseUrl);
    const caughtUpMs = performance.now() - startedAt;
    say(`the index is at the chains' heads after ${(caughtUpMs / 1_000).toFixed(1)} s`);
    await everythingServes(world);
    say('every process is ready');
    await finishQuoteUpdates(world, updates);
    say('the last quote updates have reached the builders');
    const { comparison, ...storage } = await compareWithTruth(world, reference);
    say(`${comparison.rows} rows of ${comparison.relations} tables and views compared`);
    await reference.api.answers('/health', RECOVERY_LIMIT_MS);
    const { quotes, violations } = await compareQuotes(world, reference);
    say(`${quotes} quotes compared`);
    const deliveries = checkDeliveries(updates, world.builders);
    const audit = await auditOf(world, updates);
    const { audited, differed, violations: ofIndex } = await differencesOfIndex(world);
    const all = [...storage.violations, ...violations, ...deliveries, ...audit, ...ofIndex];
    return { comparison, pools: storage.pools, audited, differed, quotes, violations: all, caughtUpMs };
  } finally {
    await reference.stop();
  }
}

/** Compares what the service has with a reference run of its chains, and with the storage of the contracts. */
export async function compareWithTruth(
  world: World,
  reference: ReferenceRun,
): Promise<Pick<FinalChecksReport, 'comparison' | 'pools' | 'violations'>> {
  await passReplacedTimes(world);
  await catchUp(world, world.processes.indexer, world.databaseUrl);
  await catchUp(world, reference.indexer, reference.databaseUrl);
  return { comparison: await compareUntilEqual(world, reference), ...(await compareWithStorage(world)) };
}

/** The window of the listing does not go back with a chain: all chains advance until after it. */
async function passReplacedTimes({ chains, databaseUrl }: World): Promise<void> {
  const client = await connectExact(databaseUrl);
  try {
    const { rows } = await client.query('SELECT max(to_ts) AS to_ts FROM operator.listing_window');
    const heads = await Promise.all(chains.map((chain) => chain.headTimestamp()));
    const after = Math.max(...heads, Number(rows[0]?.to_ts ?? 0)) + 1;
    await Promise.all(chains.map((chain) => chain.restAt(after)));
  } finally {
    await client.end();
  }
}

/** Waits until an index is complete and at the head of every chain. */
export async function catchUp({ chains }: World, indexer: SupervisedProcess, databaseUrl: string): Promise<void> {
  await indexer.answers('/ready', RECOVERY_LIMIT_MS);
  const heads = new Map(
    await Promise.all(chains.map(async (chain) => [chain.plan.chainId, await chain.head()] as const)),
  );
  const client = await connectExact(databaseUrl);
  try {
    await eventually(`${indexer.name} at the chains' heads`, RECOVERY_LIMIT_MS, async () => {
      const indexed = await indexedBlocks(client);
      return indexed.length === heads.size && indexed.every((row) => row.block_number === heads.get(row.chain_id));
    });
  } finally {
    await client.end();
  }
}

/** How far readers see each chain indexed: nothing until a new index, which says that it is complete, has its views. */
async function indexedBlocks(client: pg.Client): Promise<pg.QueryResultRow[]> {
  try {
    return (await client.query('SELECT chain_id, block_number FROM read_model.indexed_block')).rows;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) return [];
    throw error;
  }
}

async function everythingServes({ processes: { capture, apis, workers } }: World): Promise<void> {
  await Promise.all([capture, ...apis, ...workers].map((process) => process.answers('/ready', RECOVERY_LIMIT_MS)));
}

/** A last update of every quote reaches every stream builder and relayer of its chain. */
async function finishQuoteUpdates({ builders }: World, updates: QuoteUpdates): Promise<void> {
  const streams = builders.filter(({ transport }) => transport !== 'bundle');
  for (const maker of updates.makers) {
    await updates.update(maker, true);
    await eventually(`the last update of ${maker.uuid} at every stream builder`, RECOVERY_LIMIT_MS, async () =>
      streams
        .filter(({ kind }) => kind === maker.plan.kind)
        .every(({ mock }) =>
          mock.state.received.some(
            (each) => each.replacementUuid === maker.uuid && each.replacementSeqNumber === String(maker.seq),
          ),
        ),
    );
  }
}

/** Derived tables follow with the next rounds of the scheduled work; what still differs at the end is a difference. */
async function compareUntilEqual(world: World, reference: ReferenceRun): Promise<Comparison> {
  const deadline = Date.now() + EQUAL_LIMIT_MS;
  const untrusted = new Set(world.chains.flatMap(({ attacker }) => [...(attacker?.addresses ?? [])]));
  for (;;) {
    const comparison = await compareDatabases(world.databaseUrl, reference.databaseUrl, untrusted);
    if (comparison.differences.length === 0 || Date.now() > deadline) return comparison;
    await sleep(POLL_MS);
  }
}

async function auditOf({ servers, processes, databaseUrl }: World, updates: QuoteUpdates): Promise<string[]> {
  const killedAtMs = [...servers.redis.killedAtMs, ...processes.workers.flatMap((worker) => worker.killedAtMs)];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const deadline = Date.now() + RECOVERY_LIMIT_MS; ; ) {
      const missing = await checkAudit(client, updates, killedAtMs);
      if (missing.length === 0 || Date.now() > deadline) return missing;
      await sleep(POLL_MS);
    }
  } finally {
    await client.end();
  }
}

async function eventually(what: string, limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + limitMs; !(await isSo()); await sleep(POLL_MS)) {
    if (Date.now() > deadline) throw new Error(`not so after ${limitMs / 1_000} s: ${what}`);
  }
}
