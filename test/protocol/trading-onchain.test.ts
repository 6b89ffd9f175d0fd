import fc from 'fast-check';
import { encodeFunctionData, type TransactionReceipt } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit } from '../../devnet/actions.ts';
import { send } from '../../devnet/dev-chain.ts';
import { createRandomPool, poolRecipe, stockTokens } from '../../devnet/random-pool.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { E6, E8, mulDivFloor } from '../../protocol/fixed-point.ts';
import { pricePool } from '../../protocol/layouts/flat/geometry.ts';
import type { PoolEvent } from '../../protocol/pool-events.ts';
import type { PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { startedWorld } from '../harness/open-world.ts';
import { decodeFlatPoolLog } from './flat-log.ts';
import { computeSwap, type SwapRequest, type SwapResult } from './flat-swap.ts';
import { readState, startPoolChain, type TestPool } from './pool-chain.ts';

const SEED = 20_261_121;
const POOL_COUNT = 8;
const SWAPS_PER_POOL = 12;

const poolChain = startedWorld(startPoolChain);
let pools: { readonly pool: TestPool; readonly quote: BidAsk }[];

beforeAll(async () => {
  const { chain, deployment } = poolChain;
  const shelf = await stockTokens(chain, deployment);
  pools = [];
  for (const recipe of fc.sample(poolRecipe, { numRuns: POOL_COUNT, seed: SEED })) {
    const { address, provider, token0, token1 } = await createRandomPool(chain, deployment, shelf, recipe);
    const numbers = recipe.bins.map(({ bin }) => bin);
    const scale = tokenScale(recipe.decimals0, recipe.decimals1);
    const immutables = { lowestBin: Math.min(...numbers), highestBin: Math.max(...numbers), scale };
    pools.push({ pool: { address, provider, token0, token1, immutables }, quote: recipe });
  }
});

/** Part (millionths) of what the pool holds of the token that the amount is in; beyond a million it runs dry. */
const orders = fc.sample(
  fc.record({
    zeroForOne: fc.boolean(),
    kind: fc.constantFrom('exactInput' as const, 'exactOutput' as const),
    partE6: fc.oneof(fc.integer({ min: 1, max: 300_000 }), fc.integer({ min: 1, max: 1_500_000 })),
  }),
  { numRuns: POOL_COUNT * SWAPS_PER_POOL, seed: SEED },
);

async function swapOnChain({ address }: TestPool, { zeroForOne, kind, amount }: SwapRequest) {
  const { chain, deployment } = poolChain;
  const amountSpecified = kind === 'exactInput' ? amount : -amount;
  const args = [address, zeroForOne, amountSpecified, noPriceLimit(zeroForOne)] as const;
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
  return send(chain, { from: chain.roles.trader, to: deployment.swapRouter, data });
}

function eventsOf({ address }: TestPool, { logs }: TransactionReceipt): PoolEvent[] {
  return logs
    .filter((log) => log.address.toLowerCase() === address)
    .map((log) => decodeFlatPoolLog(log))
    .filter((event) => event !== null);
}

/** What a swap must leave behind, from what it must have done. */
function expectedAfter(state: PoolState, { zeroForOne, kind }: SwapRequest, result: SwapResult) {
  const protocolFees = result.fills.map(({ input, net }) => mulDivFloor(input - net, BigInt(state.spreadFeeE6), E6));
  const bins = state.bins.map((bin, index) => {
    const at = result.fills.findIndex((fill) => fill.bin - state.lowestBin === index);
    const fill = result.fills[at];
    if (fill === undefined) return bin;
    const added = fill.input - (protocolFees[at] ?? 0n);
    return zeroForOne
      ? { ...bin, token0Scaled: bin.token0Scaled + added, token1Scaled: bin.token1Scaled - fill.output }
      : { ...bin, token0Scaled: bin.token0Scaled - fill.output, token1Scaled: bin.token1Scaled + added };
  });
  const base = result.fills.reduce((sum, { net, output }) => sum + (kind === 'exactInput' ? output : net), 0n);
  return {
    bins,
    cursor: { bin: result.bin, position: result.position },
    notionalFee: mulDivFloor(base, BigInt(state.notionalFeeE8), E8),
    protocolFee: protocolFees.reduce((sum, fee) => sum + fee, 0n),
  };
}

describe('swaps on random pools', () => {
  it('do to amounts, storage and events what the reference arithmetic says, unit for unit', async () => {
    let filled = 0;
    for (const [index, { zeroForOne, kind, partE6 }] of orders.entries()) {
      const drawn = pools[index % POOL_COUNT];
      if (drawn === undefined) throw new Error('no pool drawn');
      const { pool, quote } = drawn;
      const before = await readState(poolChain, pool);
      const { multiplier0, multiplier1 } = pool.immutables.scale;
      const inToken0 = zeroForOne === (kind === 'exactInput');
      const held = inToken0
        ? before.head.binTotals.token0Scaled / multiplier0
        : before.head.binTotals.token1Scaled / multiplier1;
      const request = { zeroForOne, kind, amount: (held * BigInt(partE6)) / E6 + 1n };
      const result = computeSwap(pricePool(before.state, quote), request);
      const receipt = await swapOnChain(pool, request);
      const after = await readState(poolChain, pool);
      const expected = expectedAfter(before.state, request, result);

      const amounts = zeroForOne
        ? { amount0Delta: result.amountIn, amount1Delta: -result.amountOut }
        : { amount0Delta: -result.amountOut, amount1Delta: result.amountIn };
      expect(eventsOf(pool, receipt).at(-1)).toMatchObject({
        kind: 'swapped',
        exactInput: kind === 'exactInput',
        curBin: result.bin,
        posInBin: result.position,
        protocolFeeScaled: expected.protocolFee,
        ...amounts,
      });
      expect(after.state.bins).toEqual(expected.bins);
      expect(after.state.cursor).toMatchObject(expected.cursor);
      const inToken1 = zeroForOne === (kind === 'exactInput');
      const accrued = inToken1 ? 'token1Scaled' : 'token0Scaled';
      expect(after.head.notionalFees[accrued] - before.head.notionalFees[accrued]).toBe(expected.notionalFee);
      if (result.amountOut > 0n) filled += 1;
    }
    // Most orders must trade, or the comparison proves nothing.
    expect(filled).toBeGreaterThan(orders.length / 2);
  });
});
