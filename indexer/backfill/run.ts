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
import { ChainNodes } from './chain-nodes.ts';
import type { BackfillOutcome, Display } from './display.ts';
import { countBlocks, Pace, type Progress } from './pace.ts';
import { type BackfillPlan, type PlanRequest, planBackfill, recordServed } from './plan.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { neededBy } from './standstill.ts';
import { type FollowedFactories, followedFactories, refuseLateStart, refuseMissingPools } from './start-block.ts';

const LOOK_EVERY_MS = 500;
const NEWEST_BLOCKS = 'the nodes to name their newest blocks';
/** The indexer waits as well for a database or a node that is unreachable for a while. */
const PATIENCE_MS = 60_000;

/**
 * Fills a new index beside the one that serves and turns readers to it. Killed at any point, it goes on where it was when
 * it is run again.
 *
 * @param interrupted rejects when the operator wants it to stop
 * @throws ConfigError, NodeUnreachableError, ReadersOfCacheError, BuildEndedError, ViewsBusyError, an error of Postgres
 */
export async function runBackfill(
  database: pg.Pool,
  chains: readonly ChainConfig[],
  request: PlanRequest,
  display: Display,
  interrupted: Promise<never>,
): Promise<BackfillOutcome> {
  const startedMs = performance.now();
  const nodes = new ChainNodes(chains);
  const factories = followedFactories(chains);
  const report = new ProgressReporter(display);
  try {
    report.needs('the nodes to name the first pools');
    await refuseLateStart(database, await servedSchema(database), factories, nodes);
    report.needs('Postgres to remove what is built or fetched again');
    const plan = await planBackfill(database, request);
    display.begin(plan);
    const progress = await build({ database, plan, factories, nodes, report, interrupted });
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const removable = await otherSchemas(database, plan.schema);
    return { ...plan, blocks: progress.doneBlocks, events: progress.events, seconds, removable };
  } finally {
    report.stop();
  }
}

/** Fills the index of a plan and turns readers to it. */
async function build({ interrupted, ...work }: Work & { readonly interrupted: Promise<never> }): Promise<Progress> {
  const { database, plan, factories, nodes, report } = work;
  report.needs('the indexer to start');
  const earlierWriter = await writerOf(database, plan);
  const indexer = await startBuild(plan.schema);
  const watching = new AbortController();
  try {
    const filled = fill({ ...work, indexer, earlierWriter, signal: watching.signal });
    const progress = await Promise.race([filled, indexer.failure, interrupted]);
    report.needs('the nodes to confirm that no pool is missing');
    const filledTo = await indexedBlocks(database, plan.schema);
    await refuseMissingPools(database, plan.schema, factories, nodes, filledTo);
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
  readonly nodes: ChainNodes;
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
  const { database, plan, factories, nodes, indexer, report, signal } = watch;
  const startBlocks = new Map(factories.map(({ chainId, startBlock }) => [chainId, startBlock]));
  const pace = new Pace();
  report.needs(NEWEST_BLOCKS);
  let heads = await nodes.heads();
  let isFollowing = false;
  let metrics: BuildMetrics | null = null;
  const look = async (): Promise<Progress | null> => {
    const indexed = await indexedBlocks(database, plan.schema);
    metrics = (await indexer.metrics()) ?? metrics;
    const position = { startBlocks, indexed, heads };
    const progress = pace.measure(performance.now(), countBlocks(position), metrics?.events ?? 0);
    report.note(progress);
    const atHeads = [...startBlocks.keys()].every((id) => (indexed.get(id) ?? -1) >= (heads.get(id) ?? 0));
    if (isFollowing && atHeads) return progress;
    if (!isFollowing && (await indexer.historyDone())) {
      report.needs(NEWEST_BLOCKS);
      heads = await nodes.heads();
      isFollowing = true;
    }
    const isTaken = metrics === null && (await isStillTaken(watch));
    report.needs(neededBy({ ...position, heads, schema: plan.schema, isTaken, metrics, isFollowing }));
    return null;
  };
  let lastLookMs = performance.now();
  for (;;) {
    try {
      const done = await look();
      if (done !== null) return done;
      lastLookMs = performance.now();
    } catch (error) {
      const isPassing = (error instanceof AppError && error.retryable) || isDatabaseUnreachable(error);
      if (!isPassing || performance.now() - lastLookMs > PATIENCE_MS) throw error;
      if (isDatabaseUnreachable(error)) report.needs('Postgres, which is unreachable');
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function isStillTaken({ database, plan, earlierWriter }: Watch): Promise<boolean> {
  return earlierWriter !== undefined && (await writerOf(database, plan)) === earlierWriter;
}
