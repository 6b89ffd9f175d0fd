import fc from 'fast-check';
import type { TransactionReceipt } from 'viem';
import { expect, test, vi } from 'vitest';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, paidBy, startLiveStream, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { DECODERS, type DecodedFrame } from './decoders.ts';

/*
 * What takers get is what the chain does: decoders that know the published forms alone read each frame, and trades of
 * its levels, executed in the block that is being built, pay exactly what the frame says.
 */

/** Of each form. `LEVEL_FRAMES=10000` and `LEVEL_FILLS=5000` try as many as are promised. */
const FRAMES = Number(process.env.LEVEL_FRAMES ?? 100);
const FILLS = Number(process.env.LEVEL_FILLS ?? 100);
const SEED = fc.readConfigureGlobal().seed ?? 0;
const TIMEOUT = { timeout: 3_600_000 };

const world = startedWorld(() => startLiveWorld({ flatPools: 6, packedPools: 6 }));
const api = startedWorld(() => startLiveStream(world));

const asked = batchesOf(api);

async function readFrame(format: keyof typeof DECODERS) {
  const pools = world.market.pools.map(({ address }) => address).join();
  const response = await fetch(`${api.base}/price_levels?format=${format}&pools=${pools}`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { frame: DECODERS[format](text), basis: response.headers.get('X-Quote-Basis') };
}

const frameOf = async (format: keyof typeof DECODERS): Promise<DecodedFrame> => (await readFrame(format)).frame;

/** A frame whose pools were all read in the block being built: what nodes do not give in time is of the last block. */
const liveFrameOf = (format: keyof typeof DECODERS): Promise<DecodedFrame> =>
  vi.waitFor(async () => {
    const { frame, basis } = await readFrame(format);
    expect(basis).toBe('live');
    return frame;
  });

test(`${FRAMES} frames of each form pass the strict decoders, and name the block being built`, TIMEOUT, async () => {
  const { market } = world;
  const random = seededRandom(SEED);
  let [pairs, levels] = [0, 0];
  for (let made = 0; made < FRAMES; made += 1) {
    if (made % 20 === 0) await updateAll(market, () => BigInt(random.integer(190, 210)));
    if (made % 100 === 99) {
      await market.builder.buildBlock();
      // The node pushes the head.
      await expect.poll(async () => (await frameOf('builder')).blockNumber).toBe(market.builder.block().number);
    }
    for (const format of ['builder', 'bap710'] as const) {
      const before = market.builder.block().number;
      const askedAt = Date.now();
      const frame = await frameOf(format);
      expect(frame.blockNumber).toBe(before);
      expect(frame.madeAt).toBeGreaterThanOrEqual(askedAt);
      expect(frame.madeAt).toBeLessThanOrEqual(Date.now());
      expect(new Set(frame.pairs.map(({ pamm, tokenIn }) => `${pamm} ${tokenIn}`)).size).toBe(frame.pairs.length);
      pairs += frame.pairs.length;
      for (const pair of frame.pairs) levels += pair.levels.length;
    }
  }
  expect(pairs).toBeGreaterThan(FRAMES * market.pools.length);
  if (process.env.LEVEL_FRAMES) process.stdout.write(`${JSON.stringify({ frames: 2 * FRAMES, pairs, levels })}\n`);
});

test(`${FILLS} levels pay in the block being built exactly what frames say`, TIMEOUT, async () => {
  const { market } = world;
  const { builder, pools } = market;
  const random = seededRandom(SEED);
  const seen = { fills: 0, exact: 0, interpolated: 0, ends: 0, refused: 0, wrong: 0, worse: 0 };
  while (seen.fills < FILLS) {
    await waitForUpdates(world, await updateAll(market, () => BigInt(random.integer(190, 210))), asked);
    const frame = await liveFrameOf(random.chance(50) ? 'builder' : 'bap710');
    const trades = pools.flatMap((pool: LivePool) => {
      const sides = frame.pairs.filter(({ pamm }) => pamm === pool.address);
      if (sides.length === 0) return [];
      const { tokenIn, levels } = random.pick(sides);
      const level = random.pick(levels);
      return [{ pool, zeroForOne: tokenIn === market.token0, level, isEnd: level === levels.at(-1) }];
    });
    const { trades: receipts } = await builder.buildBlock({
      trades: trades.map(({ pool, zeroForOne, level }) =>
        market.trade(pool, { zeroForOne, amountSpecified: level.amountIn }),
      ),
    });
    for (const [index, { pool, zeroForOne, level, isEnd }] of trades.entries()) {
      const receipt = receipts[index] as TransactionReceipt;
      seen.fills += 1;
      if (isEnd) seen.ends += 1;
      if (!level.isSimulated) seen.interpolated += 1;
      if (receipt.status !== 'success') {
        seen.refused += 1;
        continue;
      }
      const paid = paidBy(market, receipt, pool.address, zeroForOne);
      if (paid === level.amountOut) seen.exact += 1;
      else if (level.isSimulated) seen.wrong += 1;
      else if (paid < level.amountOut) seen.worse += 1;
    }
  }
  if (process.env.LEVEL_FILLS) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toMatchObject({ refused: 0, wrong: 0, worse: 0 });
  expect(seen.exact).toBeGreaterThan(0.9 * seen.fills);
});
