import { decodeFunctionResult, type Hex } from 'viem';
import { expect } from 'vitest';
import { routerAbi } from '../../devnet/abi.ts';
import { RpcError, request } from '../../devnet/json-rpc.ts';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { Random } from '../../devnet/traffic/random.ts';
import { pricedQuotes } from './part-quotes.ts';
import type { PartWorld } from './part-world.ts';
import { randomInput } from './random-input.ts';

/** What the pool pays in a call after the newest part, raw units; null when it rejects the swap. */
async function paidAtPart(
  market: LiveMarket,
  pool: LivePool,
  zeroForOne: boolean,
  amountIn: bigint,
): Promise<bigint | null> {
  const { transaction } = market.trade(pool, { zeroForOne, amountSpecified: amountIn });
  const { from, to, data } = transaction;
  try {
    const result = await request<Hex>(market.chain.rpcUrl, 'eth_call', [{ from, to, data }, 'pending']);
    const [delta0, delta1] = decodeFunctionResult({ abi: routerAbi, functionName: 'swap', data: result });
    return -(zeroForOne ? delta1 : delta0);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/**
 * Executes amounts of quotes after parts in calls at the tag pending, while the part is the newest.
 * Fails when one is rejected or pays less than was quoted.
 *
 * @returns what was seen
 */
export async function fillParts(world: PartWorld, count: number, random: Random) {
  const { market, node } = world;
  const seen = { fills: 0, exact: 0, ends: 0, refused: 0, worse: 0, parts: 0, healthy: 0 };
  while (seen.fills < count) {
    const { quotes } = await pricedQuotes(world, BigInt(random.integer(195, 200)));
    seen.parts += 1;
    seen.healthy += quotes.filter(({ priceProviderStatus }) => priceProviderStatus === 'healthy').length;
    const inputs = quotes.flatMap(({ depth }, index) =>
      [true, false].map((zeroForOne) => ({
        pool: market.pools[index] as LivePool,
        zeroForOne,
        input: randomInput((zeroForOne ? depth?.bids : depth?.asks) ?? [], random),
      })),
    );
    await Promise.all(
      inputs.map(async ({ pool, zeroForOne, input }) => {
        if (!input) return;
        const paid = await paidAtPart(market, pool, zeroForOne, input.amountIn);
        seen.fills += 1;
        if (input.isEnd) seen.ends += 1;
        if (paid === null) seen.refused += 1;
        else if (paid === input.quoted) seen.exact += 1;
        // Inside a level the client's arithmetic may promise a raw unit more than the chain pays.
        else if (paid < (input.isEnd ? input.quoted : input.quoted - 1n)) seen.worse += 1;
      }),
    );
    if (random.chance(20)) while (node.part().index > 0) await node.nextPart();
  }
  expect(seen).toMatchObject({ refused: 0, worse: 0 });
  expect(seen.healthy).toBeGreaterThan(seen.parts);
  return seen;
}
