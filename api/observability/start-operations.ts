import type { Hono } from 'hono';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type BlockPoint, readIndexedBlocks } from '../../db/indexed-blocks.ts';
import { mountHealth } from '../../runtime/health.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ChainLag } from './chain-lag.ts';
import { registerIndexingMetrics } from './indexing-metrics.ts';
import { IndexingWatch } from './indexing-watch.ts';
import { sharedCheck } from './shared-check.ts';

export type OperationsDeps = {
  readonly chains: readonly ChainConfig[];
  /** `INDEXING_MAX_LAG_SECS`. */
  readonly maxLagSecs: number;
  /** The one that requests read from: its index is the one that clients see. */
  readonly database: pg.Pool;
  /** The head of a chain if it is known without asking a node. */
  readonly knownHead: (chainId: number) => BlockRef | undefined;
  /** Asks a node. */
  readonly readHead: (chainId: number) => Promise<BlockRef>;
  /** What the operator should know, by subject. */
  readonly warnings: () => Readonly<Record<string, string>>;
  readonly metrics: Registry;
  readonly logger: Logger;
};

export type Operations = {
  /** `/health`, `/ready` and `/metrics`. */
  readonly pages: (app: Hono) => void;
  /** How far the index of each chain is behind it, as last looked at. */
  readonly lags: () => readonly ChainLag[];
  stop(): void;
};

const pointOf = ({ number, timestamp }: BlockRef): BlockPoint => ({
  number: Number(number),
  timestamp: Number(timestamp),
});

/** Watches the index of every chain with an enabled deployment, and tells the operator how the process is. */
export function startOperations({ database, metrics, logger, ...deps }: OperationsDeps): Operations {
  const watch = new IndexingWatch({
    chains: deps.chains.filter(({ deployments }) => deployments.some(({ enabled }) => enabled)),
    maxLagSecs: deps.maxLagSecs,
    readIndexed: () => readIndexedBlocks(database),
    knownHead: (chainId) => {
      const known = deps.knownHead(chainId);
      return known && pointOf(known);
    },
    readHead: async (chainId) => pointOf(await deps.readHead(chainId)),
    logger,
  });
  registerIndexingMetrics(metrics, () => watch.lags());
  watch.start();
  // Redis and the builders worker are no checks: without them every endpoint but quote updates still answers.
  const checks = {
    database: sharedCheck(async () => database.query('SELECT 1').then(() => null)),
    indexing: watch.check,
  };
  const details = () => ({ warnings: deps.warnings(), chains: watch.lags() });
  return {
    pages: (app) => mountHealth(app, { metrics, checks, details }),
    lags: () => watch.lags(),
    stop: () => watch.stop(),
  };
}
