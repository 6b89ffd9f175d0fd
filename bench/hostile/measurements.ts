import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { Samples } from '../../test/harness/samples.ts';
import type { HostileChain } from './chain.ts';
import { routeRequests } from './requests.ts';

const POLL_MS = 1_000;
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

export interface ColdRoutes {
  /** Milliseconds. */
  readonly times: Samples;
  /** Answers that were not 200. */
  readonly rejected: number;
  /** Most calls that one order took. */
  readonly calls: number;
}

/** Orders over the crowded pair, each at a new block of which nothing is known yet. */
export async function measureColdRoutes(api: string, chain: HostileChain): Promise<ColdRoutes> {
  const { world, node } = chain;
  const orders = routeRequests(chain);
  // What the pools are worth is known to a process after its first requests.
  for (const order of orders) await timeRequest(api, order);
  const times = new Samples();
  let [calls, rejected] = [0, 0];
  for (const order of orders.slice(0, COLD_ROUNDS)) {
    await world.chain.client.mine({ blocks: 1 });
    await sleep(HEAD_MS);
    const before = { calls: node.calls(), reads: node.reads() };
    const { ms, status } = await timeRequest(api, order);
    times.add(ms);
    if (status !== 200) rejected += 1;
    // Reads of state, and one look at the head: the API looks at it by itself as well, once a second.
    const reads = node.reads() - before.reads;
    calls = Math.max(calls, reads + (node.calls() - before.calls > reads ? 1 : 0));
  }
  return { times, rejected, calls };
}
