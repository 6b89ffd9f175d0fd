import { parseArgs } from 'node:util';
import pg from 'pg';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { runMain } from '../../runtime/run-main.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { serverCpuMs } from '../hostile/cpu-time.ts';
import { get, measure, percentile } from '../listing/load.ts';
import { MARKET } from '../listing/market.ts';
import { seedPools, seedSwaps } from '../listing/seed.ts';
import { type MeasuredServer, startMeasuredServer } from '../measured-server.ts';
import { printAttacks } from './attack.ts';
import { exportMemory } from './export-memory.ts';
import { seedOldPool, seedOldQuotes } from './old-pool.ts';
import { PAGES } from './pages.ts';

const HELP = `Usage: bench/history [--swaps 5000000] [--requests 1000]

Seeds 10,000 pools and a fifth of the swaps, then all of them, over eight days; writes their candles, and times pages beside a
query of as many rows by their key through the same stack, in turns; then the memory of an export, the costliest
legal requests, and quotes while 200 of one of them come at once. The indexer's CPU time per event is that of bench:indexing.
`;

const ROUNDS = 5;
const DAY = 86_400;
const SPREAD_DAYS = 8;
const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
const print = (line: string) => process.stdout.write(`${line}\n`);

runMain(async () => {
  const { values } = parseArgs({
    options: {
      swaps: { type: 'string', default: '5000000' },
      requests: { type: 'string', default: '1000' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) print(HELP);
  else await bench(Number(values.swaps), Number(values.requests));
});

async function bench(swaps: number, requests: number): Promise<void> {
  const postgres = await startPostgres();
  const database = new pg.Pool({ connectionString: postgres.url, max: 2 });
  database.on('error', () => undefined); // The end of Postgres ends its connections.
  const now = Math.floor(Date.now() / 1000 / DAY) * DAY;
  const perPool = swaps / (MARKET.poolsPerChain * MARKET.chainIds.length);
  try {
    await migrate(postgres.url);
    await createOnchainTables(database, MARKET.schema);
    await seedPools(database, now);
    await seedOldPool(database, now);
    const server = await startMeasuredServer(new URL('./server.ts', import.meta.url), { DATABASE_URL: postgres.url });
    try {
      const common = { now, pid: postgres.pid(), perPool, requests };
      const few = await round(database, server, { ...common, from: 1, to: perPool / 5 });
      const all = await round(database, server, { ...common, from: perPool / 5 + 1, to: perPool });
      print('\npage                  blocks read: a fifth of the swaps, all (target: 1.2 times)');
      PAGES.forEach(({ name }, n) => {
        print(`${name.padEnd(20)} ${few[n]} ${all[n]} = ${((all[n] ?? 0) / (few[n] ?? 0)).toFixed(2)}`);
      });
      const [first, last] = [now - SPREAD_DAYS * DAY, now - DAY];
      const [one, several] = [
        await exportMemory(postgres.url, first, first + DAY),
        await exportMemory(postgres.url, first, last),
      ];
      print(
        `\nexport, MB of one day, of ${SPREAD_DAYS - 1}: ${mb(one)}, ${mb(several)} = ${(several / one).toFixed(2)} (target <= 1.2)`,
      );
    } finally {
      await server.stop();
    }
    await seedOldQuotes(database, now);
    await database.query('VACUUM ANALYZE');
    await printAttacks(database, postgres.url, print);
  } finally {
    await database.end();
    await postgres.stop();
  }
}

interface Round {
  readonly now: number;
  /** Of Postgres. */
  readonly pid: number;
  /** Swaps of each pool that are added, of `perPool`. */
  readonly from: number;
  readonly to: number;
  readonly perPool: number;
  readonly requests: number;
}

/** Adds swaps, writes their candles, and times the pages. @returns blocks that each reads */
async function round(
  database: pg.Pool,
  { urls: [url = '', countingUrl = ''] }: MeasuredServer,
  { now, pid, from, to, perPool, requests }: Round,
): Promise<number[]> {
  const pools = MARKET.poolsPerChain * MARKET.chainIds.length;
  await seedSwaps(database, now, from, to, perPool);
  const days = (SPREAD_DAYS * to) / perPool;
  const finalTs = now - SPREAD_DAYS * DAY + days * DAY;
  for (const chainId of MARKET.chainIds) {
    const block = { chainId, number: 2_000_000, timestamp: Math.floor(finalTs) - 600, isFinal: true };
    await setIndexedBlock(database, block, MARKET.schema);
  }
  const used = () => serverCpuMs(pid) * 1_000 + process.cpuUsage().user;
  const before = used();
  await writeTradeMinutes(database);
  const micros = (used() - before) / ((to - from + 1) * pools);
  await database.query('VACUUM ANALYZE');
  const { rows: sizes } = await database.query<{ bytes: string }>(
    `SELECT pg_total_relation_size('history.trade_bar') AS bytes`,
  );
  print(`\n${to * pools} swaps over ${days} days: candles ${micros.toFixed(1)} µs of CPU time a swap,`);
  print(
    `${(Number(sizes[0]?.bytes) / pools / days).toFixed(0)} bytes a pool and day of ${(perPool / SPREAD_DAYS).toFixed(0)} swaps`,
  );
  print('page                   p50 ms   p99 ms   bare p50   bare p99   p50 x   p99 x    bytes');
  const blocks: number[] = [];
  for (const page of PAGES) {
    await timePage(url, page, requests);
    await get(`${countingUrl}${page.path}`);
    blocks.push(Number(await (await fetch(`${countingUrl}/public/v1/blocks`)).text()));
  }
  return blocks;
}

async function timePage(url: string, { name, path, rows }: (typeof PAGES)[number], requests: number): Promise<void> {
  const bare = `/public/v1/bare/${rows}`;
  const bytes = await get(`${url}${path}`);
  await measure(url, path, 100);
  await measure(url, bare, 100);
  const times = { page: [] as number[], bare: [] as number[] };
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    times.page.push(...(await measure(url, path, requests / ROUNDS)));
    times.bare.push(...(await measure(url, bare, requests / ROUNDS)));
  }
  const [p50, p99] = [percentile(times.page, 0.5), percentile(times.page, 0.99)];
  const [bare50, bare99] = [percentile(times.bare, 0.5), percentile(times.bare, 0.99)];
  const cells = [p50, p99, bare50, bare99, p50 / bare50, p99 / bare99].map((value) => value.toFixed(2).padStart(8));
  print(`${name.padEnd(20)} ${cells.join(' ')} ${String(bytes).padStart(8)}`);
}
