import { parseArgs } from 'node:util';
import pg from 'pg';
import { type RefreshDeps, refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { runMain } from '../../runtime/run-main.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startMeasuredServer } from '../measured-server.ts';
import { get, measure, percentile } from './load.ts';
import { CHAINS_FILE, MARKET } from './market.ts';
import { classifyMarket, seedPools, seedSwaps } from './seed.ts';

const HELP = `Usage: bench/listing [--swaps 5000000] [--requests 1500]

Seeds 10,000 pools and a fifth of the swaps, then all of them, and times a 50-row page of each sort, with and without
include24h, beside a bare indexed query through the same stack. Both are asked in turns, so that noise falls on both.
"rebuilt" is a page that was not requested since the last refresh.
`;

const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d'];
const ROUNDS = 5;
const UNCACHED_REQUESTS = 40;
const print = (line: string) => process.stdout.write(`${line}\n`);

runMain(async () => {
  const { values } = parseArgs({
    options: {
      swaps: { type: 'string', default: '5000000' },
      requests: { type: 'string', default: '1500' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) print(HELP);
  else await bench(Number(values.swaps), Number(values.requests));
});

async function bench(swaps: number, requests: number): Promise<void> {
  const postgres = await startPostgres();
  const database = new pg.Pool({ connectionString: postgres.url, max: 4 });
  database.on('error', () => undefined); // The end of Postgres ends its connections.
  const now = Math.floor(Date.now() / 1000);
  const perPool = swaps / (MARKET.poolsPerChain * MARKET.chainIds.length);
  try {
    await migrate(postgres.url);
    await createOnchainTables(database, MARKET.schema);
    for (const chainId of MARKET.chainIds) {
      await setIndexedBlock(database, { chainId, number: 2_000_000, timestamp: now }, MARKET.schema);
    }
    await seedPools(database, now);
    const server = await startMeasuredServer(new URL('./server.ts', import.meta.url), { DATABASE_URL: postgres.url });
    const [url = ''] = server.urls;
    try {
      await seedSwaps(database, now, 1, perPool / 5, perPool);
      const few = await round(database, url, requests, swaps / 5);
      await seedSwaps(database, now, perPool / 5 + 1, perPool, perPool);
      const all = await round(database, url, requests, swaps);
      print(
        `\ncost of a page at ${swaps} swaps / at ${swaps / 5}: p50 ${(all / few).toFixed(2)} (target 0.80 to 1.20)`,
      );
    } finally {
      await server.stop();
    }
  } finally {
    await database.end();
    await postgres.stop();
  }
}

/** Times every sort. @returns median over the sorts of what a rebuilt page costs, compared with the bare route */
async function round(database: pg.Pool, url: string, requests: number, swaps: number): Promise<number> {
  const startedAt = performance.now();
  const deps: RefreshDeps = {
    database,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (_, indexed) => indexed.number - 86_400,
    fiatMaxAgeSecs: 86_400,
    version: 'bench',
    classify: classifyMarket,
  };
  const computed = await refreshListing(deps);
  const again = performance.now();
  await refreshListing(deps);
  await database.query('VACUUM ANALYZE');
  print(
    `\n${swaps} swaps, ${computed} pools; first refresh ${(again - startedAt).toFixed(0)} ms, next ${(performance.now() - again).toFixed(0)} ms`,
  );
  print('sort     24h    page p50  p99 ms   bare p50  p99 ms   p50 x  p99 x   bytes   rebuilt p50  p50 x');
  const factors: number[] = [];
  for (const include24h of [false, true]) {
    for (const sort of SORTS) factors.push(await timeSort(database, url, sort, include24h, requests));
  }
  return percentile(factors, 0.5);
}

async function timeSort(
  database: pg.Pool,
  url: string,
  sort: string,
  include24h: boolean,
  requests: number,
): Promise<number> {
  const path = `/public/v1/evm/8453/metadata?sortBy=${sort}&include24h=${include24h}&minTvlFiat=0`;
  const bare = `/public/v1/bare/0x${(1_000_001).toString(16).padStart(40, '0')}`;
  const bytes = await get(`${url}${path}`);
  await measure(url, path, 200);
  await measure(url, bare, 200);
  const times = { page: [] as number[], bare: [] as number[] };
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    times.page.push(...(await measure(url, path, requests / ROUNDS)));
    times.bare.push(...(await measure(url, bare, requests / ROUNDS)));
  }
  const uncached = percentile(await timeUncached(database, `${url}${path}`), 0.5);
  const [p50, p99] = [percentile(times.page, 0.5), percentile(times.page, 0.99)];
  const [bare50, bare99] = [percentile(times.bare, 0.5), percentile(times.bare, 0.99)];
  const cell = (value: number, width = 8) => value.toFixed(2).padStart(width);
  print(
    `${sort.padEnd(8)} ${String(include24h).padEnd(5)} ${cell(p50, 9)} ${cell(p99)} ${cell(bare50, 10)} ${cell(bare99)} ${cell(p50 / bare50, 7)} ${cell(p99 / bare99, 6)} ${String(bytes).padStart(7)} ${cell(uncached, 10)} ${cell(uncached / bare50, 6)}`,
  );
  return uncached / bare50;
}

/** Asks for a page that must be rebuilt each time, as the first one after a refresh. @returns milliseconds of each */
async function timeUncached(database: pg.Pool, url: string): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < UNCACHED_REQUESTS; done += 1) {
    await database.query('UPDATE operator.listing_window SET generation = generation + 1');
    const startedAt = performance.now();
    await get(url);
    times.push(performance.now() - startedAt);
  }
  return times;
}
