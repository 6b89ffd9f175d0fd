import type pg from 'pg';
import { startPostgres } from '../../local/services/postgres.ts';
import { Samples } from '../../test/harness/samples.ts';
import { type MeasuredProcess, startMeasuredScript } from '../measured-process.ts';
import { print, printTable } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { Verdicts } from '../verdicts.ts';
import { refreshMarket, seedMarket } from './database.ts';
import { compare, comparedCells, get } from './load.ts';
import { MARKET } from './market.ts';
import { seedSwaps } from './seed.ts';

const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d'];
const UNCACHED_REQUESTS = 40;
const BARE = `/public/v1/bare/0x${(1_000_001).toString(16).padStart(40, '0')}`;

interface Run {
  readonly database: pg.Pool;
  readonly server: MeasuredProcess;
  readonly requests: number;
  readonly verdicts: Verdicts<'listing'>;
}

runBench({
  name: 'listing',
  description: `Seeds 10,000 pools and a fifth of the swaps, then all of them, and times a 50-row page of each sort, with and without
include24h, beside a bare indexed query through the same stack. Both are asked in turns, so that noise falls on both.
"rebuilt" is a page that was not requested since the last refresh.`,
  options: { swaps: ['of all pools', 5_000_000], requests: ['of each page', 1_500] },
  run: async ({ swaps, requests }, verdicts) => {
    const postgres = await startPostgres();
    const now = Math.floor(Date.now() / 1000);
    const perPool = swaps / (MARKET.poolsPerChain * MARKET.chainIds.length);
    const database = await seedMarket(postgres.url, now);
    const source = new URL('./server.ts', import.meta.url);
    const server = await startMeasuredScript(source, { databaseUrl: postgres.url });
    const run = { database, server, requests, verdicts };
    await seedSwaps(database, { now, from: 1, to: perPool / 5, perPool });
    const few = await round(run, swaps / 5);
    await seedSwaps(database, { now, from: perPool / 5 + 1, to: perPool, perPool });
    const all = await round(run, swaps);
    const ratio = all / few;
    print(
      `\ncost of a page at ${swaps} swaps / at ${swaps / 5}: p50 ${ratio.toFixed(2)} (${verdicts.line('page/page at a fifth of the swaps', ratio)})`,
    );
    await database.end();
  },
});

/** Times every sort. @returns median over the sorts of what a rebuilt page costs, compared with the bare route */
async function round(run: Run, swaps: number): Promise<number> {
  const { database, verdicts } = run;
  const startedAt = performance.now();
  const computed = await refreshMarket(database);
  const again = performance.now();
  await refreshMarket(database);
  await database.query('VACUUM ANALYZE');
  print(
    `\n${swaps} swaps, ${computed} pools; first refresh ${(again - startedAt).toFixed(0)} ms, next ${(performance.now() - again).toFixed(0)} ms`,
  );
  const header = ['sort', '24h', 'page p50', 'p99 ms', 'bare p50', 'p99 ms', 'p50 x', 'p99 x', 'bytes'];
  const rebuilt = new Samples();
  const ratios = new Samples();
  const rows: string[][] = [];
  for (const include24h of [false, true]) {
    for (const sort of SORTS) {
      const timed = await timeSort(run, sort, include24h);
      rebuilt.add(timed.rebuiltRatio);
      ratios.add(timed.ratio);
      rows.push(timed.cells);
    }
  }
  printTable([...header, 'rebuilt p50', 'p50 x'], rows);
  print(
    `page/bare query, p99, highest: ${ratios.max.toFixed(2)} (${verdicts.line('page/bare query, p99', ratios.max)})`,
  );
  return rebuilt.median;
}

async function timeSort({ database, server, requests }: Run, sort: string, include24h: boolean) {
  const path = `/public/v1/evm/8453/metadata?sortBy=${sort}&include24h=${include24h}&minTvlFiat=0`;
  const compared = await compare(server.url, { path, bare: BARE, requests, untimed: 200 });
  const rebuilt = (await timeUncached(database, server.url, path)).median;
  const rebuiltRatio = rebuilt / compared.bare.median;
  const cells = [
    sort,
    String(include24h),
    ...comparedCells(compared),
    String(compared.bytes),
    rebuilt.toFixed(2),
    rebuiltRatio.toFixed(2),
  ];
  return { cells, rebuiltRatio, ratio: compared.page.p99 / compared.bare.p99 };
}

/** Asks for a page that must be rebuilt each time, as the first one after a refresh. @returns milliseconds of each */
async function timeUncached(database: pg.Pool, url: string, path: string): Promise<Samples> {
  const times = new Samples();
  for (let done = 0; done < UNCACHED_REQUESTS; done += 1) {
    await database.query('UPDATE operator.listing_window SET generation = generation + 1');
    times.add((await get(url, path)).ms);
  }
  return times;
}
