import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
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
import { eventually } from '../../test/pamm/eventually.ts';
import { print, printTable } from '../print.ts';
import { collectGarbage } from '../serve-measured.ts';
import { openPool } from '../stores.ts';
import type { Verdicts } from '../verdicts.ts';

const FACTORY = seedAddress(0xfac);
const CHAIN_IDS = [1, 2];
const FIRST_POOL = 1_000_000;
const FIRST_TOKEN = 500_000_000;
const LIMIT_MS = 600_000;
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
/**
 * The pool catalog over many pools, of which each has a token of its own: time, CPU time and longest stall of
 * this process while it starts, stands still, meets new pools and another index, and the memory that it takes.
 */
export async function benchDirectory(pools: number, verdicts: Verdicts<'route'>): Promise<void> {
  const { url } = await startPostgres();
  const client = openPool(url, 1);
  await migrate(url);
  await createOnchainTables(client);
  await seedMarket(client, url, pools);
  const logger = createLogger('bench', 'warn');
  const catalog = new PoolCatalog({
    database: openDatabase(url, 'ptd_api', logger),
    chains,
    logger,
    now: () => performance.now(),
  });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const has = async (pool: number) => (await catalog.table()).find(1, seedAddress(pool)) !== undefined;
  const phases = [await timed('start', delays, async () => void (await catalog.table()))];
  collectGarbage();
  const bytes = (process.memoryUsage().heapUsed - before) / pools;
  phases.push(await timed('10 s without changes', delays, () => sleep(10_000)));
  phases.push(
    await timed('1,000 new pools', delays, async () => {
      await copyPools(client, FIRST_POOL, 1_000, pools);
      await eventually(() => has(FIRST_POOL + pools + 1_000), LIMIT_MS);
    }),
  );
  phases.push(
    await timed('another index', delays, async () => {
      await client.query(`DELETE FROM ${ONCHAIN_SCHEMA}.pool WHERE address = $1`, [seedAddress(FIRST_POOL + 2)]);
      await publishLiveViews(client);
      await eventually(async () => !(await has(FIRST_POOL + 2)), LIMIT_MS);
    }),
  );
  catalog.stop();
  const stall = Math.max(...phases.map(({ stallMs }) => stallMs));
  print(`pool catalog, ${pools} pools`);
  printTable(
    ['', 'seconds', 'CPU seconds', 'longest stall ms', 'of it CPU ms'],
    phases.map(({ cells }) => cells),
  );
  print(`longest stall: ${stall.toFixed(1)} ms (${verdicts.line('catalog, longest stall ms', stall)})`);
  print(`memory: ${Math.round(bytes)} bytes a pool (${verdicts.line('catalog, bytes a pool', bytes)})`);
}

async function timed(
  name: string,
  delays: ReturnType<typeof monitorEventLoopDelay>,
  work: () => Promise<void>,
): Promise<{ readonly stallMs: number; readonly cells: string[] }> {
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
  const stallMs = delays.max / 1e6;
  const cells = [seconds, (user + system) / 1e6, stallMs, turns.stop()];
  return { stallMs, cells: [name, ...cells.map((cell) => cell.toFixed(cell < 10 ? 2 : 1))] };
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

async function seedMarket(client: pg.Pool, url: string, pools: number): Promise<void> {
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
async function copyPools(client: pg.Pool, first: number, count: number, behind: number): Promise<void> {
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
