import fc from 'fast-check';
import type { TransactionReceipt } from 'viem';
import { afterEach, expect, test } from 'vitest';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import {
  builderSource,
  type LiveQuote,
  type LiveWorld,
  paidBy,
  relayerSource,
  startLiveWorld,
  updateAll,
  waitForLive,
  waitForUpdates,
} from './live-world.ts';
import { randomInput } from './random-input.ts';

/*
 * The promise of live quotes: what a pool offers in the block that is being built fills in that block, right behind the
 * update that makes its price. Trades are executed as transactions of that block.
 */

/** Of each basis. `LIVE_FILLS=20000` tries as many as the benchmarks name. */
const FILLS = Number(process.env.LIVE_FILLS ?? 200);
const SEED = fc.readConfigureGlobal().seed ?? 0;
/** Percent of rounds before which no update landed. */
const WITHOUT_UPDATE = 45;

let world: LiveWorld;
afterEach(() => world?.stop());

const nothing = {
  fills: 0,
  exact: 0,
  ends: 0,
  refused: 0,
  worse: 0,
  blocks: 0,
  withoutUpdate: 0,
  /** Of quotes at the committed head. */
  committed: 0,
  healthy: 0,
};
let seen = nothing;

/** A random amount of a random side. */
function tradeIn(pool: LivePool, { depth }: LiveQuote, random: Random) {
  const zeroForOne = random.chance(50);
  const input = randomInput((zeroForOne ? depth?.bids : depth?.asks) ?? [], random);
  return input ? [{ pool, zeroForOne, ...input }] : [];
}

/** Quotes all pools in the block that is being built, and executes a trade of each there. */
async function fillOnce(random: Random): Promise<void> {
  const { market } = world;
  const { builder, pools } = market;
  const updates = await updateAll(market, () => BigInt(random.integer(190, 210)));
  await waitForUpdates(world, updates);
  const { results } = await waitForLive(world);
  const { number, timeSecs } = builder.block();
  const target = { kind: 'live', targetBlockNumber: Number(number), targetTimestamp: Number(timeSecs) };
  const trades = results.flatMap((result, index) => {
    if (!('quote' in result)) throw new Error(JSON.stringify(result));
    expect(result.quote).toMatchObject({ basis: target });
    const pool = pools[index] as LivePool;
    // Guards reject prices that jump.
    const statuses = pool.guard === 'none' ? ['healthy'] : ['healthy', 'pool_refused'];
    expect(statuses).toContain(result.quote.priceProviderStatus);
    return tradeIn(pool, result.quote, random);
  });
  for (const result of (await world.batch({ basis: 'committed' })).results) {
    seen.committed += 1;
    if ('quote' in result && result.quote.priceProviderStatus === 'healthy') seen.healthy += 1;
  }
  const built = await builder.buildBlock({
    trades: trades.map(({ pool, zeroForOne, amountIn }) =>
      market.trade(pool, { zeroForOne, amountSpecified: amountIn }),
    ),
  });
  seen.blocks += 1;
  for (const [index, { pool, zeroForOne, quoted, isEnd }] of trades.entries()) {
    const receipt = built.trades[index] as TransactionReceipt;
    seen.fills += 1;
    if (isEnd) seen.ends += 1;
    if (receipt.status !== 'success') {
      seen.refused += 1;
      continue;
    }
    const paid = paidBy(market, receipt, pool.address, zeroForOne);
    if (paid === quoted) seen.exact += 1;
    // Inside a level the client's arithmetic may promise a raw unit more than the chain pays.
    if (paid < (isEnd ? quoted : quoted - 1n)) seen.worse += 1;
  }
}

test.each([
  ['builder-overrides', builderSource],
  ['relayer', relayerSource],
] as const)(`${FILLS} live quotes of a source %s fill in their block`, { timeout: 3_600_000 }, async (_, source) => {
  world = await startLiveWorld({ flatPools: 6, packedPools: 6 }, source);
  seen = { ...nothing };
  const random = seededRandom(SEED);
  while (seen.fills < FILLS) {
    await fillOnce(random);
    if (!random.chance(WITHOUT_UPDATE)) continue;
    // No update lands in this block, so that the head has no prices.
    await world.market.builder.buildBlock();
    seen.withoutUpdate += 1;
  }
  if (process.env.LIVE_FILLS) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toMatchObject({ refused: 0, worse: 0 });
  // Two thirds of the pools of a round trade, which lands their update; it is gone in a block without one.
  expect(seen.healthy).toBeLessThan(0.7 * seen.committed);
  expect(seen.healthy).toBeGreaterThan(0);
});
