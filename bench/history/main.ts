import type pg from 'pg';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { indexMarket, seedMarket } from '../listing/database.ts';
import { compare, comparedCells, get } from '../listing/load.ts';
import { MARKET } from '../listing/market.ts';
import { type SwapRange, seedSwaps } from '../listing/seed.ts';
import { type MeasuredScript, startMeasuredScript } from '../measured-process.ts';
import { print, printTable } from '../print.ts';
import { cpuMsOf } from '../process-figures.ts';
import { runBench } from '../run-bench.ts';
import type { Verdicts } from '../verdicts.ts';
import { measureAttacks } from './attack.ts';
import { exportMemory } from './export-memory.ts';
import { seedOldPool, seedOldQuotes } from './old-pool.ts';
import { PAGES } from './pages.ts';

const DAY = 86_400;
const SPREAD_DAYS = 8;
const POOLS = MARKET.poolsPerChain * MARKET.chainIds.length;
/** With a fifth of fewer swaps no pool fills the longest page, nor a day the buffers of an export. */
const MIN_JUDGED_SWAPS = 5 * POOLS * Math.max(...PAGES.map(({ rows }) => rows));
const NO_TARGET = 'no target';
const mb = (bytes: number) => (bytes / 1e6).toFixed(0);

interface Run {
  readonly database: pg.Pool;
  readonly postgresPid: number;
  readonly server: MeasuredScript;
  readonly requests: number;
  /** Null: too few swaps to compare with targets. */
  readonly verdicts: Verdicts<'history'> | null;
}

runBench({
  name: 'history',
  description: `Seeds 10,000 pools and a fifth of the swaps, then all of them, over eight days; writes their candles, and times pages beside a
query of as many rows by their key through the same stack, in turns; then the memory of an export, the costliest
legal requests, and quotes while 200 of one of them come at once. The indexer's CPU time per event is that of bench:indexing.`,
  options: { swaps: ['of all pools; fewer have no targets', MIN_JUDGED_SWAPS], requests: ['of each page', 1_000] },
  run: async ({ swaps, requests }, verdicts) => {
    const postgres = await startPostgres();
    const now = Math.floor(Date.now() / 1000 / DAY) * DAY;
    const perPool = swaps / POOLS;
    const database = await seedMarket(postgres.url, now);
    await seedOldPool(database, now);
    const source = new URL('./server.ts', import.meta.url);
    const server = await startMeasuredScript(source, { databaseUrl: postgres.url });
    const judged = swaps < MIN_JUDGED_SWAPS ? null : verdicts;
    const run = { database, postgresPid: postgres.pid(), server, requests, verdicts: judged };
    const few = await round(run, { now, perPool, from: 1, to: perPool / 5 });
    const all = await round(run, { now, perPool, from: perPool / 5 + 1, to: perPool });
    print('\npage                  blocks read: a fifth of the swaps, all');
    PAGES.forEach(({ name }, n) => {
      const [before = 0, after = 0] = [few[n], all[n]];
      const verdict = judged?.line('blocks read/with a fifth of swaps', after / before) ?? NO_TARGET;
      print(`${name.padEnd(20)} ${before} ${after} = ${(after / before).toFixed(2)}  ${verdict}`);
    });
    await measureExport(postgres.url, now, judged);
    await server.stop();
    await seedOldQuotes(database, now);
    await database.query('VACUUM ANALYZE');
    await measureAttacks(database, postgres.url, verdicts);
    await database.end();
  },
});

async function measureExport(databaseUrl: string, now: number, verdicts: Run['verdicts']): Promise<void> {
  const [first, last] = [now - SPREAD_DAYS * DAY, now - DAY];
  const one = await exportMemory(databaseUrl, first, first + DAY);
  const several = await exportMemory(databaseUrl, first, last);
  const ratio = several / one;
  const verdict = verdicts?.line("export's memory, all days/one", ratio) ?? NO_TARGET;
  print(
    `\nexport, MB of one day, of ${SPREAD_DAYS - 1}: ${mb(one)}, ${mb(several)} = ${ratio.toFixed(2)} (${verdict})`,
  );
}

/** Adds swaps, writes their candles, and times the pages. @returns blocks that each reads */
async function round(run: Run, range: SwapRange): Promise<number[]> {
  const { database, postgresPid, server } = run;
  const { now, from, to, perPool } = range;
  await seedSwaps(database, range);
  const days = (SPREAD_DAYS * to) / perPool;
  const finalTs = now - SPREAD_DAYS * DAY + days * DAY;
  await indexMarket(database, { number: 2_000_000, timestamp: Math.floor(finalTs) - 600, isFinal: true });
  const used = () => cpuMsOf(postgresPid) * 1_000 + process.cpuUsage().user;
  const before = used();
  await writeTradeMinutes(database);
  const micros = (used() - before) / ((to - from + 1) * POOLS);
  await database.query('VACUUM ANALYZE');
  const { rows: sizes } = await database.query<{ bytes: string }>(
    `SELECT pg_total_relation_size('history.trade_bar') AS bytes`,
  );
  print(`\n${to * POOLS} swaps over ${days} days: candles ${micros.toFixed(1)} µs of CPU time a swap,`);
  print(
    `${(Number(sizes[0]?.bytes) / POOLS / days).toFixed(0)} bytes a pool and day of ${(perPool / SPREAD_DAYS).toFixed(0)} swaps`,
  );
  const [, counting = ''] = server.urls;
  const rows: string[][] = [];
  const blocks: number[] = [];
  for (const page of PAGES) {
    rows.push(await timePage(run, page));
    await get(counting, page.path);
    blocks.push(Number(await (await fetch(`${counting}/public/v1/blocks`)).text()));
  }
  printTable(['page', 'p50 ms', 'p99 ms', 'bare p50', 'bare p99', 'p50 x', 'p99 x', 'bytes', 'target', ''], rows);
  return blocks;
}

async function timePage({ server, requests, verdicts }: Run, page: (typeof PAGES)[number]): Promise<string[]> {
  const bare = `/public/v1/bare/${page.rows}`;
  const compared = await compare(server.url, { path: page.path, bare, requests, untimed: 100 });
  const verdict = verdicts?.verdict('page/query, p99', compared.page.p99 / compared.bare.p99) ?? NO_TARGET;
  const target = verdicts?.text('page/query, p99') ?? '';
  return [page.name, ...comparedCells(compared), String(compared.bytes), target, verdict];
}
