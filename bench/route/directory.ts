import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { parseChainsFile } from '../../config/load-chains.ts';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import {
  createOnchainTables,
  ONCHAIN_SCHEMA,
  publishLiveViews,
  setIndexedBlock,
} from '../../test/harness/onchain-tables.ts';
import { openSeeder, seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { formatTable } from './measure.ts';

const FACTORY = seedAddress(0xfac);
const CHAIN_IDS = [1, 2];
const FIRST_POOL = 1_000_000;
const FIRST_TOKEN = 500_000_000;
const deployments = [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY }];
const { chains } = parseChainsFile(
  {
    chains: CHAIN_IDS.map((chainId) => ({
      chainId,
      name: `chain-${chainId}`,
      rpcUrls: ['http://127.0.0.1:1'],
      blockTimeMs: 1_000,
      deployments,
    })),
  },
  'bench',
);
const collectGarbage = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

/**
 * The pool catalog over many pools, of which each has a token of its own: time, CPU time and longest stall of
 * this process while it starts, stands still, meets new pools and another index, and the memory that it takes.
 */
export async function benchDirectory(pools: number, write: (line: string) => void): Promise<void> {
  const postgres = await startPostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await migrate(postgres.url);
    await client.connect();
    await createOnchainTables(client);
    await seedMarket(client, postgres.url, pools);
    await measureDirectory(client, postgres.url, pools, write);
  } finally {
    await client.end();
    await postgres.stop();
  }
}

async function measureDirectory(client: pg.Client, url: string, pools: number, write: (line: string) => void) {
  const logger = createLogger('bench', 'warn');
  const database = openDatabase(url, 'ptd_api', logger);
  const catalog = new PoolCatalog({ database, chains, logger });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const has = async (pool: number) => (await catalog.table()).find(1, seedAddress(pool)) !== undefined;
  const isRemoved = async (pool: number) => !(await has(pool));
  const rows = [await timed('start', delays, async () => void (await catalog.table()))];
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  rows.push(await timed('10 s without changes', delays, () => sleep(10_000)));
  rows.push(
    await timed('1,000 new pools', delays, async () => {
      await copyPools(client, FIRST_POOL, 1_000, pools);
      await until(() => has(FIRST_POOL + pools + 1_000));
    }),
  );
  rows.push(
    await timed('another index', delays, async () => {
      await client.query(`DELETE FROM ${ONCHAIN_SCHEMA}.pool WHERE address = $1`, [seedAddress(FIRST_POOL + 2)]);
      await publishLiveViews(client);
      await until(() => isRemoved(FIRST_POOL + 2));
    }),
  );
  catalog.stop();
  await database.$client.end();
  write(`pool catalog, ${pools} pools (target: no stall above 20 ms, under 1,000 bytes a pool)`);
  write(formatTable(['', 'seconds', 'processor seconds', 'longest stall ms', 'of it processor ms'], rows));
  write(`memory: ${Math.round(bytes / pools)} bytes a pool`);
}

async function timed(
  name: string,
  delays: ReturnType<typeof monitorEventLoopDelay>,
  work: () => Promise<void>,
): Promise<string[]> {
  // What was done before this has its stall behind it.
  await sleep(50);
  delays.reset();
  const turns = watchTurns();
  const start = performance.now();
  const cpu = process.cpuUsage();
  await work();
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await sleep(50);
  const cells = [seconds, (user + system) / 1e6, delays.max / 1e6, turns.stop()];
  return [name, ...cells.map((cell) => cell.toFixed(cell < 10 ? 2 : 1))];
}

/** Reports the most CPU time between two turns of the event loop, ms: a stall without what other processes took. */
function watchTurns(): { stop: () => number } {
  let most = 0;
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    most = Math.max(most, (user + system) / 1_000);
  }, 1);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}

async function seedMarket(client: pg.Client, url: string, pools: number): Promise<void> {
  const seeder = openSeeder(url);
  for (const chainId of CHAIN_IDS) {
    for (const number of [0x70, 0x71]) await seedToken(seeder.db, { chainId, address: seedAddress(number) });
  }
  await seedPools(seeder.db, [{ pool: { chainId: 1, address: seedAddress(FIRST_POOL) } }]);
  await seeder.end();
  await copyPools(client, FIRST_POOL, pools, 0);
  for (const chainId of CHAIN_IDS) await setIndexedBlock(client, { chainId, number: pools, timestamp: 1 });
  await client.query('ANALYZE');
}

/** Adds pools like the first one, evenly over the chains, each with a token of its own beside one of two hubs. */
async function copyPools(client: pg.Client, first: number, count: number, behind: number): Promise<void> {
  const address = (number: string) => `'0x' || lpad(to_hex(${number}), 40, '0')`;
  const { rows } = await client.query<{ readonly column_name: string }>(
    "SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'pool' ORDER BY ordinal_position",
    [ONCHAIN_SCHEMA],
  );
  const changed: Record<string, string> = {
    chain_id: '1 + n % 2',
    address: address(`${first} + n`),
    token0: address('112 + n % 2'),
    token1: address(`${FIRST_TOKEN} + n`),
    created_block_number: 'n',
  };
  const names = rows.map(({ column_name }) => column_name);
  const values = names.map((name) => changed[name] ?? `p.${name}`);
  const numbers = `generate_series(${behind + 1}, ${behind + count}) n`;
  await client.query(`
    INSERT INTO ${ONCHAIN_SCHEMA}.token (chain_id, address, symbol, name, decimals, block_number, block_timestamp)
    SELECT 1 + n % 2, ${address(`${FIRST_TOKEN} + n`)}, 'TOK' || n, 'Token ' || n, 18, 1, 1 FROM ${numbers};
    INSERT INTO ${ONCHAIN_SCHEMA}.pool (${names.join(', ')})
    SELECT ${values.join(', ')} FROM ${ONCHAIN_SCHEMA}.pool p, ${numbers}
    WHERE p.chain_id = 1 AND p.address = ${address(String(first))}`);
}
