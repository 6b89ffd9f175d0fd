import { Hono } from 'hono';
import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { maxQuoteAgeMs, type QuotesConfig } from '../../config/quotes-schema.ts';
import { describeFailure, isDatabaseUnreachable } from '../../db/failure.ts';
import { readFirstSyncs } from '../../db/first-sync.ts';
import { readIndexedBlocks } from '../../db/indexed-blocks.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { DataAges } from '../../quoting/pools/chain-catalog.ts';
import { mountHealth } from '../../runtime/health.ts';
import { startServer } from '../../runtime/http-server.ts';
import type { OutageLog } from '../../runtime/outage-log.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { ChainLag } from './chain-lag.ts';
import { auditWarnings, captureWarnings, nodeWarnings } from './data-warnings.ts';
import { IndexingWatch, type IndexingWatchDeps } from './indexing-watch.ts';

const POLL_MS = 1_000;

export type OperationsDeps = Pick<IndexingWatchDeps, 'maxLagSecs' | 'wallClock'> & {
  readonly chains: ReadonlyMap<number, Chain>;
  readonly quotes: QuotesConfig;
  /** The database that requests read from, so that its index is the one that clients see. */
  readonly database: pg.Pool;
  /** What the operator should know, by subject. */
  readonly warnings: () => Promise<Readonly<Record<string, string>>>;
  /** How old the data of capture are, by chain. */
  readonly ages: (chainId: number) => DataAges;
  /** The outage of Postgres and Redis. */
  readonly stores: Pick<OutageLog, 'failed' | 'worked'>;
  readonly metrics: Registry;
};

export type Operations = {
  /** `/health`, `/ready` and `/metrics`. */
  readonly pages: (app: Hono) => void;
  /** Serves them on a port of their own. @throws ConfigError when it cannot be listened on */
  readonly serve: (host: string, port: number) => Promise<void>;
  /** How far the index of each chain is behind the chain, by the last poll. */
  readonly lags: () => readonly ChainLag[];
  stop(): void;
};

/**
 * The watch of the index of every chain with an enabled deployment. It reports to `stores` whether Postgres answers.
 */
function watchOf({ chains, quotes, database, stores, maxLagSecs, wallClock }: OperationsDeps): IndexingWatch {
  return new IndexingWatch({
    maxLagSecs,
    wallClock,
    chains: [...chains.values()].filter(({ deployments }) => deployments.some(({ enabled }) => enabled)),
    maxQuoteAgeMs: ({ blockTimeMs }) => maxQuoteAgeMs(quotes, blockTimeMs),
    readIndexed: async () => {
      try {
        const blocks = await readIndexedBlocks(database);
        stores.worked();
        return blocks;
      } catch (error) {
        // It also fails before there is an index.
        if (isDatabaseUnreachable(error)) stores.failed(error);
        throw error;
      }
    },
    readFirstSyncs: () => readFirstSyncs(database),
  });
}

/** Watches the index of every chain with an enabled deployment, and shows the operator the state of the process. */
export function startOperations(deps: OperationsDeps): Operations {
  const { chains, database, warnings, ages, metrics } = deps;
  const watch = watchOf(deps);
  const lags = () => watch.lags();
  registerIndexingMetrics(metrics, lags);
  registerNodeMetrics(metrics, [...chains.values()]);
  // Redis and the builders worker are not checked: without them every endpoint but quote updates still works.
  const checks = {
    database: async () => database.query('SELECT 1').then(() => null, describeFailure),
    indexing: watch.check,
  };
  const allWarnings = async () => ({
    ...(await warnings()),
    ...captureWarnings(lags(), ages),
    ...auditWarnings(lags(), ages),
    ...nodeWarnings(chains.values()),
  });
  const details = async () => ({ warnings: await allWarnings(), chains: lags() });
  const pages = (app: Hono) => mountHealth(app, { metrics, checks, details });
  return {
    pages,
    serve: async (host, port) => {
      const app = new Hono();
      pages(app);
      await startServer(app, host, port, { setting: 'OPERATIONS_PORT' });
    },
    lags,
    stop: startRepeating(() => watch.poll(), POLL_MS),
  };
}

/** Registers gauges of the index, by chain, which call `lags` at each scrape. Unknown values are not shown. */
export function registerIndexingMetrics(registry: Registry, lags: () => readonly ChainLag[]): void {
  const register = (name: string, help: string, read: (lag: ChainLag) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'],
      registers: [registry],
      collect() {
        this.reset();
        for (const lag of lags()) {
          const value = read(lag);
          if (value !== null) this.set({ chain: String(lag.chainId) }, value);
        }
      },
    });
  register('indexing_block', 'Newest block of a chain that is indexed', (lag) => lag.indexedBlock);
  register('indexing_head_block', 'Newest block that the nodes of a chain give', (lag) => lag.headBlock);
  register('indexing_lag_blocks', 'Blocks from the indexed one to the head', (lag) => lag.lagBlocks);
  register('indexing_lag_seconds', 'Seconds between the times of these two blocks', (lag) => lag.lagSecs);
  register('indexing_stalled', '1 while the index of a chain does not follow it', (lag) => Number(lag.stalled));
}

/** Registers a gauge of chains whose nodes do not answer. */
function registerNodeMetrics(registry: Registry, chains: readonly Pick<Chain, 'chainId' | 'nodes'>[]): void {
  new Gauge({
    name: 'chain_nodes_failing',
    help: '1 while calls to all nodes of a chain fail, and for 30 s after',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      for (const { chainId, nodes } of chains) this.set({ chain: String(chainId) }, Number(nodes.isFailing));
    },
  });
}
