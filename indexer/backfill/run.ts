import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { serveSchema } from '../publication/live-views.ts';
import { indexedBlocks } from '../publication/ponder-tables.ts';
import { type BuildProcess, startBuild } from './build-process.ts';
import { ChainNodes } from './chain-nodes.ts';
import type { BackfillOutcome, Display } from './display.ts';
import { countBlocks, Pace, type Progress } from './pace.ts';
import { type BackfillPlan, type PlanRequest, planBackfill, recordServed } from './plan.ts';
import { type FollowedFactories, followedFactories, refuseLateStart, refuseMissingPools } from './start-block.ts';

const LOOK_EVERY_MS = 500;
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
  await refuseLateStart(database, await servedSchema(database), factories, nodes);
  const plan = await planBackfill(database, request);
  display.begin(plan);
  const build = await startBuild(plan.schema);
  const watching = new AbortController();
  try {
    const filled = fill({ database, plan, factories, nodes, build, display, signal: watching.signal });
    const progress = await Promise.race([filled, build.failure, interrupted]);
    const filledTo = await indexedBlocks(database, plan.schema);
    await refuseMissingPools(database, plan.schema, factories, nodes, filledTo);
    await serveSchema(database, plan.schema, (client) => recordServed(client, plan));
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const removable = await otherSchemas(database, plan.schema);
    return { ...plan, blocks: progress.doneBlocks, events: progress.events, seconds, removable };
  } finally {
    watching.abort();
    display.stop();
    await build.stop();
  }
}

async function otherSchemas(database: pg.Pool, schema: string): Promise<string[]> {
  const schemas = await listIndexSchemas(database);
  return schemas.map(({ name }) => name).filter((name) => name !== schema);
}

type Watch = {
  readonly database: pg.Pool;
  readonly plan: BackfillPlan;
  readonly factories: readonly FollowedFactories[];
  readonly nodes: ChainNodes;
  readonly build: BuildProcess;
  readonly display: Display;
  readonly signal: AbortSignal;
};

/** Watches the build until it has followed every chain to the head that it had when the history was complete. */
async function fill({ database, plan, factories, nodes, build, display, signal }: Watch): Promise<Progress> {
  const startBlocks = new Map(factories.map(({ chainId, startBlock }) => [chainId, startBlock]));
  const pace = new Pace();
  let heads = await nodes.heads();
  let historyDone = false;
  let events = 0;
  const look = async (): Promise<Progress | null> => {
    const indexed = await indexedBlocks(database, plan.schema);
    events = (await build.events()) ?? events;
    const progress = pace.measure(performance.now(), countBlocks({ startBlocks, indexed, heads }), events);
    display.progress(progress);
    const atHeads = [...startBlocks.keys()].every((id) => (indexed.get(id) ?? -1) >= (heads.get(id) ?? 0));
    if (historyDone && atHeads) return progress;
    if (!historyDone && (await build.historyDone())) {
      heads = await nodes.heads();
      historyDone = true;
    }
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
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
