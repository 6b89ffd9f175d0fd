import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import pg from 'pg';
import { expect, test } from 'vitest';
import { setFeedPrice } from '../../devnet/providers.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { toX64 } from '../../devnet/scenario/market.ts';
import type { PoolPlan } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import { createDatabase } from '../harness/database.ts';
import { healthyQuote, localStarter, START_LIMIT_MS, startLocalChain } from '../harness/local-service.ts';
import { openWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { expectAnalyst } from './start-places.ts';

const SYNC = /first sync of one: [\d,]+ of 2,\d{3} blocks \(\d+%\), [\d,]+ events/;

/** With every contract of a chain its blocks take longer. */
const world = openWorld(async (ends) => {
  const created: number[] = [];
  const long = await startLocalChain({ onlyTrading: true }, async (chain, scenario) => {
    const setup = { chain, ...scenario };
    for (let number = 2_000; created.length < 3; number += 1) {
      await buildPool(setup, TRADING_POOLS[0] as PoolPlan, number);
      created.push(Number(await chain.client.getBlockNumber()));
      await chain.client.mine({ blocks: 700 });
    }
    // Blocks are a second apart, however fast they are mined.
    for (const { id, usd } of scenario.feeds) {
      await setFeedPrice(chain, scenario.deployment, { feedId: id, priceX64: toX64(usd) });
    }
  });
  ends.defer(long.remove);
  const proxy = await startRpcProxy(long.anvil.url, true, '127.0.0.2');
  ends.defer(() => proxy.stop());
  const database = ends.adopt(await createDatabase(), ({ drop }) => drop());
  const redis = ends.adopt(await createRedisDatabase(), ({ drop }) => drop());
  const env = { RPC_OF_ONE: proxy.url, DATABASE_URL: database.url, REDIS_URL: redis.url, HOST: '127.0.0.2' };
  return { long, created, proxy, env, data: join(long.temp, 'given') };
});
const startForTests = localStarter();
let run: ServiceProcess;

test('npm start fills an index from a free node of 25 requests a second and ranges of 500 blocks, and shows how far it is', {
  timeout: START_LIMIT_MS,
}, async () => {
  const { long, created, proxy, env, data } = world;
  const plan = { perSec: 25, logBlocks: 500, refusal: 'five hundred blocks is what a free plan has' };
  // It says how far it is every ten seconds: until then the last logs do not come.
  const isShown = Promise.withResolvers<void>();
  proxy.misbehave({ kind: 'freePlan', ...plan, late: { block: created.at(-1) ?? 0, until: isShown.promise } });
  let shown = '';
  const output = new PassThrough().on('data', (chunk) => {
    shown += chunk;
    if (SYNC.test(shown)) isShown.resolve();
  });
  run = await startForTests(long, ['--chains', long.chains, '--data', data], env, undefined, output);
  expect(shown).toMatch(SYNC);
  // Eleven of the scenario, and these.
  await healthyQuote({ ...long, lastBlock: created.at(-1) ?? 0 }, run, 10 + created.length);

  const ranges = proxy.requests
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params: [filter] }) => filter as { readonly fromBlock?: string; readonly toBlock?: string })
    .map(({ fromBlock, toBlock }) => ({ from: Number(fromBlock), to: Number(toBlock) }));
  const isRefused = ({ from, to }: { from: number; to: number }) => to - from >= plan.logBlocks;
  expect(ranges.filter(isRefused)).not.toEqual([]);
  const taken = ranges.filter((range) => !isRefused(range));
  for (const block of created) expect(taken.some(({ from, to }) => from <= block && block <= to)).toBe(true);
});

test('it uses stores and the interface that it is given, with a login for each process', async () => {
  const { env, data } = world;
  expect(run.recentOutput()).toMatch(/API +http:\/\/127\.0\.0\.2:/);
  await expectAnalyst(data);
  expect((await readdir(data)).sort()).toEqual([
    'chains.json',
    'chains.json.indexed',
    'lock',
    'logs',
    'secret',
    'settings.sh',
  ]);
  const name = new URL(env.DATABASE_URL).pathname.slice(1);
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query<{ login: string }>(
    'SELECT DISTINCT usename AS login FROM pg_stat_activity WHERE datname = $1 AND usename <> current_user ORDER BY 1',
    [name],
  );
  await client.end();
  expect(rows.map(({ login }) => login)).toEqual(
    ['api', 'builders', 'capture', 'indexer'].map((it) => `${name}_${it}`),
  );
});
