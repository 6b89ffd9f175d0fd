import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPublicClient, http } from 'viem';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { batchesOf, paidBy, updateAll, waitForUpdates } from '../live/live-world.ts';
import { swapAtHead } from '../live/viem-swap.ts';
import { type Order, PROGRAMS, type TakerWorld } from './programs.ts';
import { QUOTER } from './prop-amm-face.ts';
import { startedRpcWorld } from './rpc-world.ts';

/* In a market that does nothing meanwhile, the swaps that programs decide on pay all that they count on. */

const { world, api, rpc } = startedRpcWorld();

const takerWorld = ({ market } = world): TakerWorld => ({
  pools: market.pools,
  token0: market.token0,
  token1: market.token1,
  nodeUrl: market.chain.rpcUrl,
  base: api.base,
  rpc,
  pollMs: 20,
  block: async () => market.builder.block(),
});
const poolOf = ({ pool }: Order) =>
  world.market.pools.find(({ address }) => address === pool) ?? expect.fail(`${pool} is no pool`);

test('each program of the table has a script, and each script its row', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/use/takers.md'), 'utf8');
  const [table = ''] = /^\| You run \|.*?\n\n/ms.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| ([^|(]+?) (?:\([^|]+\) )?\|/gm)].map(([, row = '']) => row.replaceAll('`', ''));
  const scripts = [...Object.keys(PROGRAMS), QUOTER];
  const [head, ...programs] = rows;
  expect([head, programs.length]).toEqual(['You run', 6]);
  expect(programs.filter((row) => !scripts.some((name) => name.startsWith(row)))).toEqual([]);
  expect(scripts.filter((name) => !programs.some((row) => name.startsWith(row)))).toEqual([]);
});

let price = 195n;
test.each(Object.keys(PROGRAMS))('%s gets from its handshake to swaps that fill', async (name) => {
  const { market } = world;
  price += 1n;
  await market.builder.buildBlock();
  // At its end no price holds: swaps need what is not on the chain.
  const node = createPublicClient({ transport: http(market.chain.rpcUrl) });
  for (const pool of market.pools)
    expect(await swapAtHead(node, { pool, zeroForOne: true, amountIn: 10n ** 17n })).toBeNull();
  await waitForUpdates(world, await updateAll(market, () => price), batchesOf(api));
  const orders = (await PROGRAMS[name]?.(takerWorld())) ?? [];
  expect(orders.length).toBeGreaterThanOrEqual(2);
  const { trades } = await market.builder.buildBlock({
    trades: orders.map((order) =>
      market.trade(poolOf(order), { zeroForOne: order.zeroForOne, amountSpecified: order.amountIn }),
    ),
  });
  for (const [index, { pool, zeroForOne, amountOut }] of orders.entries()) {
    const receipt = trades[index] ?? expect.fail('a trade has no receipt');
    expect(receipt.status).toBe('success');
    expect(paidBy(market, receipt, pool, zeroForOne)).toBeGreaterThanOrEqual(amountOut);
    expect(amountOut).toBeGreaterThan(0n);
  }
});
