import fc from 'fast-check';
import { decodeFunctionResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { routerAbi } from '../../devnet/abi.ts';
import { RpcError, request } from '../../devnet/json-rpc.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import type { LiveQuote } from './live-world.ts';
import { pricedQuotes } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';
import { randomInput } from './random-input.ts';

/*
 * The promise of quotes after a part: what a pool offers fills in a call at the tag pending,
 * for as long as the part is the newest.
 */

/** `LIVE_FILLS=20000` tries as many as the benchmarks name. */
const FILLS = Number(process.env.LIVE_FILLS ?? 200);
const SEED = fc.readConfigureGlobal().seed ?? 0;

const world = startedWorld(() => startPartWorld({ flatPools: 6, packedPools: 6, node: { form: 'payload' } }));

const seen = { fills: 0, exact: 0, ends: 0, refused: 0, worse: 0, parts: 0, healthy: 0 };

/** What the pool pays in a call after the newest part, raw units; null when it rejects the swap. */
async function paidAtPart(pool: LivePool, zeroForOne: boolean, amountIn: bigint): Promise<bigint | null> {
  const { transaction } = world.market.trade(pool, { zeroForOne, amountSpecified: amountIn });
  const { from, to, data } = transaction;
  try {
    const result = await request<Hex>(world.market.chain.rpcUrl, 'eth_call', [{ from, to, data }, 'pending']);
    const [delta0, delta1] = decodeFunctionResult({ abi: routerAbi, functionName: 'swap', data: result });
    return -(zeroForOne ? delta1 : delta0);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

async function fillEach(pool: LivePool, { depth }: LiveQuote, random: Random): Promise<void> {
  for (const zeroForOne of [true, false]) {
    const input = randomInput((zeroForOne ? depth?.bids : depth?.asks) ?? [], random);
    if (!input) continue;
    const { amountIn, isEnd, quoted } = input;
    const paid = await paidAtPart(pool, zeroForOne, amountIn);
    seen.fills += 1;
    if (isEnd) seen.ends += 1;
    if (paid === null) seen.refused += 1;
    else if (paid === quoted) seen.exact += 1;
    // Inside a level the client's arithmetic may promise a raw unit more than the chain pays.
    else if (paid < (isEnd ? quoted : quoted - 1n)) seen.worse += 1;
  }
}

test(`${FILLS} amounts of quotes after parts fill there`, { timeout: 3_600_000 }, async () => {
  const random = seededRandom(SEED);
  const { market, node } = world;
  while (seen.fills < FILLS) {
    const { quotes } = await pricedQuotes(world, BigInt(random.integer(195, 200)));
    seen.parts += 1;
    for (const [index, quote] of quotes.entries()) {
      if (quote.priceProviderStatus === 'healthy') seen.healthy += 1;
      await fillEach(market.pools[index] as LivePool, quote, random);
    }
    if (random.chance(20)) while (node.part().index > 0) await node.nextPart();
  }
  if (process.env.LIVE_FILLS) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toMatchObject({ refused: 0, worse: 0 });
  expect(seen.healthy).toBeGreaterThan(seen.parts);
});
