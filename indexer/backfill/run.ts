import type pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { readFaultyNodes } from '../../db/log-faults.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { pause } from '../../runtime/pause.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { serveSchema } from '../publication/live-views.ts';
import { indexedBlocks } from '../publication/ponder-tables.ts';
import { type BuildProcess, OtherCodeError, startBuild } from './build-process.ts';
import { type BackfillPlan, isUnfinished, type PlanRequest, planBackfill, recordServed } from './plan.ts';
import { behindHeads, countBlocks } from './progress.ts';
import { type RepairedLog, type RepairedSettings, readRepairedLogs, readRepairedSettings } from './repair.ts';
import { assertNoMissingPools, assertStartBlock, type FollowedFactory, followedFactories } from './start-block.ts';

const REPORT_EVERY_MS = 5_000;
const POLL_MS = 500;
/** How long polls may fail before the run gives up. The indexer, too, waits for an unreachable database or node. */
const TIMEOUT_MS = 60_000;

/** How far a backfill has come. */
type Progress = {
  /** Blocks from the first one to the head, summed over all chains. */
  totalBlocks: number;
  doneBlocks: number;
  waitingFor: string;
};

/** The result of a backfill. */
type Outcome = BackfillPlan & Replacement & { readonly blocks: number; readonly seconds: number };

/** What is known of the index that is replaced, found out before readers are switched: nothing fails afterwards. */
type Replacement = {
  /** Indexes that no reader sees. */
  readonly removable: readonly string[];
  /** Of a repair: logs that the replaced index lacked or should not have had, 100 at most; null where unknown. */
  readonly repaired: readonly RepairedLog[] | null;
  /** Likewise: settings that it had otherwise. */
  readonly repairedSettings: readonly RepairedSettings[] | null;
  /**
   * Nodes of the chains of a repair that left logs out, or invented some, within a day.
   * Unknown where another node never showed it.
   */
  readonly faultyNodes: readonly FaultyNode[];
};

type FaultyNode = {
  readonly chainId: number;
  /** Its place in the chains file. */
  readonly node: string;
};

/** What a backfill reports: its plan, its progress every five seconds, and its result. */
export type BackfillReport =
  | ({ readonly type: 'begin' } & BackfillPlan)
  | ({ readonly type: 'progress' } & Readonly<Progress>)
  | ({ readonly type: 'end' } & Outcome);

interface BackfillRun {
  readonly report: (report: BackfillReport) => void;
  /** Rejects when the operator stops the run. */
  readonly interrupted: Promise<never>;
}

/**
 * Fills a new index next to the one that serves, then switches readers to it. A run that was killed continues when it
 * is started again, and starts over when code or chains have changed.
 *
 * @throws ConfigError, RpcFailure, ReadersOfCacheError, BuildEndedError, ViewsBusyError, an error of Postgres
 */
export async function runBackfill(
  database: pg.Pool,
  chains: readonly ChainConfig[],
  request: PlanRequest,
  { report, interrupted }: BackfillRun,
): Promise<void> {
  const startedMs = performance.now();
  const factories = followedFactories(chains);
  const progress = { totalBlocks: 0, doneBlocks: 0, waitingFor: 'nodes and Postgres to say where to begin' };
  const timer = setInterval(() => report({ type: 'progress', ...progress }), REPORT_EVERY_MS);
  try {
    await assertStartBlock(database, await servedSchema(database), factories);
    const fillAs = async (asked: PlanRequest): Promise<BackfillPlan & Replacement> => {
      const plan = await planBackfill(database, asked);
      report({ type: 'begin', ...plan });
      try {
        return { ...plan, ...(await build({ database, plan, factories, progress }, request.fromBlocks, interrupted)) };
      } catch (error) {
        if (!(error instanceof OtherCodeError && (await isUnfinished(database, plan, asked)))) throw error;
        // What it had removed from the cache has come from the nodes since.
        return fillAs({ ...asked, refetch: null, fresh: true });
      }
    };
    const outcome = await fillAs(request);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    report({ type: 'end', ...outcome, blocks: progress.doneBlocks, seconds });
  } finally {
    clearInterval(timer);
  }
}

type Work = {
  readonly database: pg.Pool;
  readonly plan: BackfillPlan;
  readonly factories: readonly FollowedFactory[];
  readonly progress: Progress;
};

/** Fills the index of a plan, then switches readers to it. @param fromBlocks of a repair */
async function build(
  work: Work,
  fromBlocks: ReadonlyMap<number, number> | undefined,
  interrupted: Promise<never>,
): Promise<Replacement> {
  const { database, plan, factories, progress } = work;
  const indexer = await startBuild(plan.schema);
  const watching = new AbortController();
  try {
    await Promise.race([fill(work, indexer, watching.signal), indexer.failure, interrupted]);
    progress.waitingFor = 'the nodes to confirm that no pool is missing';
    await assertNoMissingPools(database, plan.schema, factories, await indexedBlocks(database, plan.schema));
    progress.waitingFor = 'Postgres to write the candles of the new index';
    await writeTradeMinutes(database, plan.schema);
    progress.waitingFor = 'Postgres to compare the new index with the one that serves';
    const describing = describeReplacement(database, plan, fromBlocks ?? new Map());
    const replacement = await Promise.race([describing, indexer.failure, interrupted]);
    progress.waitingFor = 'readers to leave a gap in which the views turn to the new index';
    await serveSchema(database, plan.schema, (client) => recordServed(client, plan));
    return replacement;
  } finally {
    watching.abort();
    progress.waitingFor = 'the indexer to stop';
    await indexer.stop();
  }
}

async function describeReplacement(
  database: pg.Pool,
  { replaces: before, schema: after }: BackfillPlan,
  repairedFrom: ReadonlyMap<number, number>,
): Promise<Replacement> {
  const schemas = (await listIndexSchemas(database)).map(({ name }) => name);
  const faultyNodes = [...(await readFaultyNodes(database))]
    .filter(([chainId]) => repairedFrom.has(chainId))
    .flatMap(([chainId, nodes]) => nodes.map((node) => ({ chainId, node })));
  const removable = schemas.filter((name) => name !== after);
  if (before === null || repairedFrom.size === 0) return { removable, repaired: [], repairedSettings: [], faultyNodes };
  const repaired = await readRepairedLogs(database, { before, after }, repairedFrom);
  const repairedSettings = await readRepairedSettings(database, { before, after }, [...repairedFrom.keys()]);
  return { removable, repaired, repairedSettings, faultyNodes };
}

/** Waits until the index has reached, on every chain, the head that the chain had when the history was complete. */
async function fill(
  { database, plan, factories, progress }: Work,
  indexer: BuildProcess,
  signal: AbortSignal,
): Promise<void> {
  const startBlocks = new Map(factories.map(({ chainId, startBlock }) => [chainId, startBlock]));
  let heads: ReadonlyMap<number, number> | null = null;
  let isFollowing = false;
  const poll = async (): Promise<boolean> => {
    if (heads === null || isFollowing !== indexer.isComplete()) {
      progress.waitingFor = 'the nodes to name their newest blocks';
      heads = await headsOf(factories);
      isFollowing = indexer.isComplete();
    }
    const position = { startBlocks, heads, indexed: await indexedBlocks(database, plan.schema) };
    Object.assign(progress, countBlocks(position));
    const behind = behindHeads(position).join(', ');
    progress.waitingFor = isFollowing ? `the newest blocks of chain ${behind}` : 'the indexer to write the history';
    return isFollowing && behind === '';
  };
  let lastPollMs = performance.now();
  while (!signal.aborted) {
    try {
      if (await poll()) return;
      lastPollMs = performance.now();
    } catch (error) {
      const isPassing = (error instanceof AppError && error.retryable) || isDatabaseUnreachable(error);
      if (!isPassing || performance.now() - lastPollMs > TIMEOUT_MS) throw error;
      if (isDatabaseUnreachable(error)) progress.waitingFor = 'Postgres, which is unreachable';
    }
    await pause(POLL_MS, signal);
  }
}

/** Newest block of every chain, by chain id. */
async function headsOf(factories: readonly FollowedFactory[]): Promise<Map<number, number>> {
  const heads = factories.map(async ({ chainId, rpc }) => [chainId, Number((await rpc.head()).block.number)] as const);
  return new Map(await Promise.all(heads));
}
