import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { serveSchema } from '../publication/live-views.ts';
import { indexedBlocks } from '../publication/ponder-tables.ts';
import { schemaWriters } from '../publication/schema-lock.ts';
import type { BuildMetrics } from './build-metrics.ts';
import { type BuildProcess, startBuild } from './build-process.ts';
import type { BackfillOutcome, Display } from './display.ts';
import { behindHeads, neededBy } from './needed-by.ts';
import { type BackfillPlan, type PlanRequest, planBackfill, recordServed } from './plan.ts';
import { countBlocks, type Progress } from './progress.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { type FollowedFactories, followedFactories, refuseLateStart, refuseMissingPools } from './start-block.ts';

const POLL_MS = 500;
const NEWEST_BLOCKS = 'the nodes to name their newest blocks';
/** The indexer waits as well for a database or a node that is unreachable for a while. */
const TIMEOUT_MS = 60_000;

/**
 * Fills a new index beside the one that serves and turns readers to it. Killed at any point, it goes on where it was when
 * it is run again.
 *
 * @param interrupted rejects when the operator wants it to stop
 * @throws ConfigError, RpcFailure, ReadersOfCacheError, BuildEndedError, ViewsBusyError, an error of Postgres
 */
export async function runBackfill(
  database: pg.Pool,
  chains: readonly ChainConfig[],
  request: PlanRequest,
  display: Display,
  interrupted: Promise<never>,
): Promise<BackfillOutcome> {
  const startedMs = performance.now();
  const factories = followedFactories(chains);
  const report = new ProgressReporter(display);
  try {
    report.needs('the nodes to name the first pools');
    await refuseLateStart(database, await servedSchema(database), factories);
    report.needs('Postgres to remove what is built or fetched again');
    const plan = await planBackfill(database, request);
    display.begin(plan);
    const progress = await build({ database, plan, factories, report, interrupted });
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const removable = await otherSchemas(database, plan.schema);
    return { ...plan, blocks: progress.doneBlocks, events: progress.events, seconds, removable };
  } finally {
    report.stop();
  }
}

/** Fills the index of a plan and turns readers to it. */
async function build({ interrupted, ...work }: Work & { readonly interrupted: Promise<never> }): Promise<Progress> {
  const { database, plan, factories, report } = work;
  report.needs('the indexer to start');
  const earlierWriter = await writerOf(database, plan);
  const indexer = await startBuild(plan.schema);
  const watching = new AbortController();
  try {
    const filled = fill({ ...work, indexer, earlierWriter, signal: watching.signal });
    const progress = await Promise.race([filled, indexer.failure, interrupted]);
    report.needs('the nodes to confirm that no pool is missing');
    const filledTo = await indexedBlocks(database, plan.schema);
    await refuseMissingPools(database, plan.schema, factories, filledTo);
    report.needs('readers to leave a gap in which the views turn to the new index');
    await serveSchema(database, plan.schema, (client) => recordServed(client, plan));
    return progress;
  } finally {
    watching.abort();
    report.needs('the indexer to stop');
    await indexer.stop();
  }
}

async function writerOf(database: pg.Pool, { schema }: BackfillPlan): Promise<number | undefined> {
  return (await schemaWriters(database, [schema])).get(schema);
}

async function otherSchemas(database: pg.Pool, schema: string): Promise<string[]> {
  const schemas = await listIndexSchemas(database);
  return schemas.map(({ name }) => name).filter((name) => name !== schema);
}

type Work = {
  readonly database: pg.Pool;
  readonly plan: BackfillPlan;
  readonly factories: readonly FollowedFactories[];
  readonly report: ProgressReporter;
};

type Watch = Work & {
  readonly indexer: BuildProcess;
  /** Who wrote the schema before: a process of Postgres. */
  readonly earlierWriter: number | undefined;
  readonly signal: AbortSignal;
};

/** Watches the build until it has followed every chain to the head that it had when the history was complete. */
async function fill(watch: Watch): Promise<Progress> {
  const { database, plan, factories, indexer, report, signal } = watch;
  const startBlocks = new Map(factories.map(({ chainId, startBlock }) => [chainId, startBlock]));
  report.needs(NEWEST_BLOCKS);
  let heads = await headsOf(factories);
  let isFollowing = false;
  let metrics: BuildMetrics | null = null;
  const poll = async (): Promise<Progress | null> => {
    const indexed = await indexedBlocks(database, plan.schema);
    metrics = (await indexer.metrics()) ?? metrics;
    const position = { startBlocks, indexed, heads };
    const progress = { ...countBlocks(position), events: metrics?.events ?? 0 };
    report.note(progress);
    if (isFollowing && behindHeads(position).length === 0) return progress;
    if (!isFollowing && (await indexer.historyDone())) {
      report.needs(NEWEST_BLOCKS);
      heads = await headsOf(factories);
      isFollowing = true;
    }
    const isTaken = metrics === null && (await isStillTaken(watch));
    report.needs(neededBy({ ...position, heads, schema: plan.schema, isTaken, metrics, isFollowing }));
    return null;
  };
  let lastPollMs = performance.now();
  for (;;) {
    try {
      const done = await poll();
      if (done !== null) return done;
      lastPollMs = performance.now();
    } catch (error) {
      const isPassing = (error instanceof AppError && error.retryable) || isDatabaseUnreachable(error);
      if (!isPassing || performance.now() - lastPollMs > TIMEOUT_MS) throw error;
      if (isDatabaseUnreachable(error)) report.needs('Postgres, which is unreachable');
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Newest block of every chain, by chain id. */
async function headsOf(chains: readonly FollowedFactories[]): Promise<Map<number, number>> {
  const heads = chains.map(async ({ chainId, rpc }) => [chainId, Number((await rpc.head()).block.number)] as const);
  return new Map(await Promise.all(heads));
}

async function isStillTaken({ database, plan, earlierWriter }: Watch): Promise<boolean> {
  return earlierWriter !== undefined && (await writerOf(database, plan)) === earlierWriter;
}
