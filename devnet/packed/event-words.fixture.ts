import { type Address, parseEventLogs } from 'viem';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { packedPoolEvents } from './abi.ts';
import { amountsOf } from './actions.ts';
import type { ModelSwap } from './model.fixture.ts';
import type { PackedSetup } from './random-pool.fixture.ts';
import { fields } from './storage.fixture.ts';
import type { PackedVariant } from './variants.ts';

/** A swap as its events say, in the terms of a variant. */
export interface SwapWords {
  readonly details: {
    readonly zeroForOne: boolean;
    readonly exactInput: boolean;
    readonly bin: bigint;
    readonly position: bigint;
  };
  readonly amounts: readonly [bigint, bigint];
  /** High and low half. */
  readonly platformFees: readonly [bigint, bigint];
  readonly bins: readonly {
    readonly bin: bigint;
    readonly deltas: readonly [bigint, bigint];
    readonly fees: readonly [bigint, bigint];
  }[];
}

/** All swaps of a pool from its events. */
export async function swapWords({ chain, deployment }: PackedSetup, pool: Address): Promise<readonly SwapWords[]> {
  const logs = await chain.client.getLogs({ address: pool, fromBlock: 0n });
  let bins: SwapWords['bins'][number][] = [];
  const swaps: SwapWords[] = [];
  for (const { eventName, args } of parseEventLogs({ abi: packedPoolEvents, logs })) {
    if (eventName === 'BinSwapped') {
      bins.push({ bin: args.binIdx, deltas: signedHalves(args.binDeltas), fees: halves(args.fees) });
    } else if (eventName === 'Swap') {
      const details = detailsOf(deployment.variant, args.details);
      const platformFees = halves(args.platformFees);
      swaps.push({ details, amounts: signedHalves(args.amountDeltas), platformFees, bins });
      bins = [];
    }
  }
  return swaps;
}

/** What liquidity events add to and take from bins, scaled. */
export async function liquidityDeltas({ chain }: PackedSetup, pool: Address) {
  const logs = await chain.client.getLogs({ address: pool, fromBlock: 0n });
  return parseEventLogs({ abi: flatPoolEvents, eventName: ['LiquidityAdded', 'LiquidityRemoved'], logs }).flatMap(
    ({ args }) => args.binIdxs.map((bin, index) => ({ bin: Number(bin), ...args.binBalanceDeltas[index] })),
  );
}

/** What the events of a swap should say. */
export function expectedWords(
  variant: PackedVariant,
  swap: ModelSwap,
  of: SwapWords['details'],
  [multiplier0, multiplier1]: readonly [bigint, bigint],
): SwapWords {
  const [inInput, inOutput] = [swap.spreadFee + swap.notionalInInput, swap.notionalInOutput];
  const byToken = of.zeroForOne ? ([inInput, inOutput] as const) : ([inOutput, inInput] as const);
  const byKind = [swap.spreadFee, swap.notionalInInput + swap.notionalInOutput] as const;
  const raw = variant.deltaScale === 'raw';
  return {
    details: of,
    amounts: [swap.amount0Delta, swap.amount1Delta],
    platformFees: variant.platformFees === 'token' ? byToken : byKind,
    bins: swap.bins.map(({ bin, delta0, delta1, lpFee, platformFee }) => ({
      bin: BigInt(bin),
      deltas: raw ? [delta0 / multiplier0, delta1 / multiplier1] : [delta0, delta1],
      fees: variant.fees === 'kind' ? [lpFee, platformFee] : of.zeroForOne ? [lpFee, 0n] : [0n, lpFee],
    })),
  };
}

function detailsOf({ details }: PackedVariant, word: bigint): SwapWords['details'] {
  const [zeroForOne, exactInput, bin, position] = details === 'flagsFirst' ? flagsFirst(word) : positionFirst(word);
  return { zeroForOne: zeroForOne === 1n, exactInput: exactInput === 1n, bin: BigInt.asIntN(16, bin), position };
}

function flagsFirst(word: bigint): readonly [bigint, bigint, bigint, bigint] {
  const [zeroForOne, exactInput, , bin, position] = fields(word, [1, 1, 6, 16, 104]);
  return [zeroForOne, exactInput, bin, position];
}

function positionFirst(word: bigint): readonly [bigint, bigint, bigint, bigint] {
  const [position, bin, zeroForOne, exactInput] = fields(word, [104, 16, 1, 1]);
  return [zeroForOne, exactInput, bin, position];
}

function halves(word: bigint): readonly [bigint, bigint] {
  const [low, high] = fields(word, [128, 128]);
  return [high, low];
}

function signedHalves(word: bigint): readonly [bigint, bigint] {
  const { amount0Delta, amount1Delta } = amountsOf(word);
  return [amount0Delta, amount1Delta];
}
