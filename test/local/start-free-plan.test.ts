import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setFeedPrice } from '../../devnet/providers.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { toX64 } from '../../devnet/scenario/market.ts';
import type { PoolPlan } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { healthyQuote, START_LIMIT_MS, startLocal, startLocalChain } from '../harness/local-service.ts';
import { openWorld } from '../harness/open-world.ts';

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
  return { long, created, proxy };
});

test('npm start fills an index from a free node of 25 requests a second and ranges of 500 blocks, and shows how far it is', {
  timeout: START_LIMIT_MS,
}, async () => {
  const { long, created, proxy } = world;
  const plan = { perSec: 25, logBlocks: 500, refusal: 'five hundred blocks is what a free plan has' };
  proxy.misbehave({ kind: 'freePlan', ...plan });
  const data = join(long.temp, 'free');
  const run = await startLocal(long, ['--chains', long.chains, '--data', data], { RPC_OF_ONE: proxy.url });
  expect(run.recentOutput()).toMatch(/first sync of one: [\d,]+ of 2,\d{3} blocks \(\d+%\), [\d,]+ events/);
  // Eleven of the scenario, and these.
  await healthyQuote({ ...long, lastBlock: created.at(-1) ?? 0 }, run, 10 + created.length);
  await run.stop();

  const ranges = proxy.requests
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params: [filter] }) => filter as { readonly fromBlock?: string; readonly toBlock?: string })
    .map(({ fromBlock, toBlock }) => ({ from: Number(fromBlock), to: Number(toBlock) }));
  const isRefused = ({ from, to }: { from: number; to: number }) => to - from >= plan.logBlocks;
  expect(ranges.filter(isRefused)).not.toEqual([]);
  const taken = ranges.filter((range) => !isRefused(range));
  for (const block of created) expect(taken.some(({ from, to }) => from <= block && block <= to)).toBe(true);
});
