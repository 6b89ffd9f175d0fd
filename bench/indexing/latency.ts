import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { TransactionReceiptNotFoundError } from 'viem';
import { migrate } from '../../db/migrate.ts';
import { setBlockTime } from '../../devnet/dev-chain.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { openPool } from '../stores.ts';
import { BLOCK_TIME_SECS, type LoadedChain, sendSwap } from './workload.ts';

const RECEIPT_POLL_MS = 5;
const ROW_POLL_MS = 5;
const LISTING_POLL_MS = 50;
/** Swaps come at any moment of a block, this far apart at most. */
const MAX_PAUSE_MS = 1_000;
const LIMIT_MS = 120_000;

/** How long each swap took, in milliseconds from its receipt at the node. */
export interface Latencies {
  /** Until its row showed in schema `live`. */
  readonly indexed: readonly number[];
  /** Until it counted in what the listing's pages are made of. */
  readonly listed: readonly number[];
}

interface Settings {
  readonly databaseUrl: string;
  readonly chainsFile: string;
  readonly swaps: number;
}

/** Follows the chains with the real indexer and capture while single swaps come, each of a pool of its own. */
export async function measureLatency(chains: readonly LoadedChain[], settings: Settings): Promise<Latencies> {
  await migrate(settings.databaseUrl);
  const database = openPool(settings.databaseUrl, 8);
  await startFollower('indexer', settings, { DATABASE_SCHEMA: 'followed' });
  await startFollower('capture', settings, {});
  await untilListed(database, chains);
  await Promise.all(chains.map(({ chain }) => setBlockTime(chain, BLOCK_TIME_SECS)));
  const times = await Promise.all(await sendSwaps(database, chains, settings.swaps));
  return { indexed: times.map(({ indexed }) => indexed), listed: times.map(({ listed }) => listed) };
}

function startFollower(main: string, { databaseUrl, chainsFile }: Settings, env: Record<string, string>) {
  return onFreePort((port) =>
    startOwnProcess({
      main,
      env: {
        CHAINS_CONFIG: chainsFile,
        DATABASE_URL: databaseUrl,
        LOG_LEVEL: 'info',
        HOST: '127.0.0.1',
        PORT: String(port),
        ...env,
      },
      ready: `http://127.0.0.1:${port}/ready`,
      startTimeoutMs: 300_000,
    }),
  );
}

async function untilListed(database: pg.Pool, chains: readonly LoadedChain[]): Promise<void> {
  const pools = chains.reduce((sum, chain) => sum + chain.pools.length, 0);
  await until(LISTING_POLL_MS, 'every pool is listed', async () => {
    const { rows } = await database.query('SELECT count(*)::int AS n FROM operator.listed_pool');
    return rows[0]?.n === pools;
  });
}

/** Sends swaps of one chain after the other, at random moments; the times of each follow by themselves. */
async function sendSwaps(database: pg.Pool, chains: readonly LoadedChain[], count: number) {
  const times: Promise<{ indexed: number; listed: number }>[] = [];
  for (let index = 0; index < count; index++) {
    const chain = chains[index % chains.length];
    if (chain === undefined) throw new RangeError('no chains');
    const time = timeSwap(database, chain, Math.floor(index / chains.length));
    // Awaited with the others at the end: it must not count as unhandled until then.
    time.catch(() => undefined);
    times.push(time);
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
  return times;
}

async function timeSwap(database: pg.Pool, loaded: LoadedChain, poolIndex: number) {
  const { chain, pools } = loaded;
  const pool = pools[poolIndex];
  if (pool === undefined) throw new RangeError('more swaps than pools');
  const before = await listedSwaps(database, chain.chainId, pool);
  const hash = await sendSwap(loaded, poolIndex);
  await until(RECEIPT_POLL_MS, 'receipt', () => hasReceipt(loaded, hash));
  const receivedAt = performance.now();
  const listed = until(LISTING_POLL_MS, 'swap in the listing', async () => {
    return (await listedSwaps(database, chain.chainId, pool)) > before;
  }).then(() => performance.now() - receivedAt);
  await until(ROW_POLL_MS, 'row of the swap', async () => {
    const sql = `SELECT FROM live.swap WHERE chain_id = $1 AND pool = $2 AND transaction_hash = $3
                 AND block_timestamp > (SELECT max(block_timestamp) - 60 FROM live.pool_state WHERE chain_id = $1 AND pool = $2)`;
    return (await database.query(sql, [chain.chainId, pool, hash])).rowCount === 1;
  });
  const indexed = performance.now() - receivedAt;
  return { indexed, listed: await listed };
}

async function hasReceipt({ chain }: LoadedChain, hash: `0x${string}`): Promise<boolean> {
  try {
    await chain.client.getTransactionReceipt({ hash });
    return true;
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return false;
    throw error;
  }
}

/** Transactions with swaps of a pool that its finished record counts. */
async function listedSwaps(database: pg.Pool, chainId: number, pool: string): Promise<number> {
  const sql = 'SELECT analytics FROM operator.listed_pool WHERE chain_id = $1 AND pool = $2';
  const { rows } = await database.query<{ analytics: string }>(sql, [chainId, pool]);
  return Number(/"swapTxCount":(\d+)/.exec(rows[0]?.analytics ?? '')?.[1]);
}

async function until(pauseMs: number, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${LIMIT_MS} ms`);
    await sleep(pauseMs);
  }
}
