import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { scrape } from '../../test/operations/scrape.ts';
import { Samples } from '../route/measure.ts';
import type { HostileChain } from './chain.ts';
import { LoadResult, timeRequest } from './load.ts';
import { routeRequests } from './requests.ts';

const POLL_MS = 1_000;
/** The loop's delay is measured by a timer that fires so often, which the delay includes. */
const TIMER_MS = 10;
/** Longer than a head is used after it was seen. */
const HEAD_MS = 1_100;
const COLD_ROUNDS = 6;

/** Ages of the honest pools' prices, seconds, every second for so long; a pool without a price is as old as the run. */
export async function watchAges(database: pg.Pool, seconds: number): Promise<Samples> {
  const ages = new Samples();
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; await sleep(POLL_MS)) {
    const { rows } = await database.query<{ age: number }>(
      `SELECT coalesce(extract(epoch FROM clock_timestamp() - captured_at), 1e6)::float8 AS age
       FROM honest_pool LEFT JOIN operator.price_health USING (chain_id, pool)`,
    );
    for (const { age } of rows) ages.add(age);
  }
  return ages;
}

/** Honest pools whose status is not known to be healthy. */
export async function countUnhealthy(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    `SELECT count(*) FROM honest_pool LEFT JOIN operator.price_health USING (chain_id, pool)
     WHERE status IS DISTINCT FROM 'healthy'`,
  );
  return Number(rows[0]?.count);
}

/** Longest stall of a process's event loop while the work is done, milliseconds. */
export async function longestStall(url: string, work: () => Promise<void>): Promise<number> {
  const lagMs = async () => ((await scrape(url)).sum('nodejs_eventloop_lag_max_seconds') ?? 0) * 1_000 - TIMER_MS;
  await lagMs(); // Restarts with each measurement.
  let longest = 0;
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await Promise.race([done.catch(() => undefined), sleep(POLL_MS)]);
    longest = Math.max(longest, await lagMs());
  }
  await done;
  return longest;
}

export interface ColdRoutes {
  readonly times: LoadResult;
  /** Most calls that one order took. */
  readonly calls: number;
}

/** Orders over the crowded pair, each at a new block of which nothing is known yet. */
export async function measureColdRoutes(api: string, chain: HostileChain): Promise<ColdRoutes> {
  const { world, proxy } = chain;
  const orders = routeRequests(chain);
  // What the pools are worth is known to a process after its first requests.
  for (const order of orders) await timeRequest(api, order);
  const times = new LoadResult();
  let calls = 0;
  while (times.count < COLD_ROUNDS) {
    await world.chain.client.mine({ blocks: 1 });
    await sleep(HEAD_MS);
    const before = proxy.requests.length;
    const { ms, status } = await timeRequest(api, orders[times.count] ?? { path: '' });
    times.add(ms);
    if (status !== 200) times.rejected += 1;
    calls = Math.max(calls, callsAmong(proxy.requests.slice(before)));
  }
  return { times, calls };
}

/** Reads of state, and one look at the head: the API looks at it by itself as well, once a second. */
function callsAmong(requests: readonly { readonly method: string }[]): number {
  const reads = requests.filter(({ method }) => method === 'eth_call').length;
  return reads + (requests.length > reads ? 1 : 0);
}
