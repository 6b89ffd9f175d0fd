import { type Log, parseEventLogs } from 'viem';
import { E8 } from '../protocol/fixed-point.ts';
import type { PoolWords, Setup } from './contracts.fixture.ts';
import { flatPoolAbi } from './protocol-abi.ts';
import type { RandomPool } from './random-pool.ts';

/** What events can report a pool's words. */
export interface Summary {
  bin: bigint;
  position: bigint;
  distanceE6: bigint;
  notional0: bigint;
  notional1: bigint;
  spreadFeeE6: bigint;
  notionalFeeE8: bigint;
  readonly bins: Map<bigint, { balance0: bigint; balance1: bigint; shares: bigint; addFeeBuyE6: bigint }>;
}

/** One swap as the events of its bins tell it (scaled, what the trader owes and gets) and as it was paid (raw). */
export interface SwapRecord {
  readonly zeroForOne: boolean;
  readonly owedScaled: bigint;
  readonly dueScaled: bigint;
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
}

/** The fees that `deployProtocol` gives every new pool. */
const PROTOCOL_SPREAD_E6 = 200_000n;
const PROTOCOL_NOTIONAL_E8 = 100n;

export function summary(words: PoolWords): Summary {
  const { bin, position, distanceE6, notional0, notional1, spreadFeeE6, notionalFeeE8 } = words;
  const bins = [...words.bins].map(([index, { balance0, balance1, shares, addFeeBuyE6 }]) => {
    return [index, { balance0, balance1, shares, addFeeBuyE6 }] as const;
  });
  return { bin, position, distanceE6, notional0, notional1, spreadFeeE6, notionalFeeE8, bins: new Map(bins) };
}

/** Rebuilds a pool from its recipe and its events alone. */
export async function replay({ chain }: Setup, pool: RandomPool) {
  const logs = await chain.client.getLogs({ address: pool.address, fromBlock: 0n });
  const player = new Replay(pool);
  for (const event of parsed(logs)) player.play(event);
  return { state: player.state, swaps: player.swaps };
}

const parsed = (logs: Log[]) => parseEventLogs({ abi: flatPoolAbi, logs });
type PoolEvent = ReturnType<typeof parsed>[number];
type ArgsOf<N extends PoolEvent['eventName']> = Extract<PoolEvent, { eventName: N }>['args'];

class Replay {
  readonly state: Summary;
  readonly swaps: SwapRecord[] = [];
  readonly #pool: RandomPool;
  /** Of the bins since the last Swap: inputs before fees, LP fees, outputs. */
  #net = 0n;
  #lpFee = 0n;
  #output = 0n;

  constructor(pool: RandomPool) {
    this.#pool = pool;
    this.state = atCreation(pool);
  }

  play({ eventName, args }: PoolEvent): void {
    const { state } = this;
    if (eventName === 'LiquidityAdded') this.#liquidity(args, 1n);
    else if (eventName === 'LiquidityRemoved') this.#liquidity(args, -1n);
    else if (eventName === 'BinSwapped') this.#binSwapped(args);
    else if (eventName === 'Swap') this.#swap(args);
    else if (eventName === 'SpreadFeeUpdated') state.spreadFeeE6 = BigInt(args.spreadFeeE6);
    else if (eventName === 'NotionalFeeUpdated') state.notionalFeeE8 = BigInt(args.notionalFeeE8);
    else if (eventName === 'ProtocolFeesCollected') [state.notional0, state.notional1] = [0n, 0n];
    else if (eventName === 'BinAdditionalFeesUpdated') {
      this.#bin(BigInt(args.bin)).addFeeBuyE6 = BigInt(args.addFeeBuyE6);
    }
  }

  #liquidity({ binIdxs, binBalanceDeltas, shares }: ArgsOf<'LiquidityAdded'>, sign: bigint): void {
    for (const [i, index] of binIdxs.entries()) {
      const bin = this.#bin(index);
      bin.balance0 += binBalanceDeltas[i]?.delta0Scaled ?? 0n;
      bin.balance1 += binBalanceDeltas[i]?.delta1Scaled ?? 0n;
      bin.shares += sign * (shares[i] ?? 0n);
    }
  }

  #binSwapped({ binIdx, delta: { delta0Scaled, delta1Scaled }, lpFeeAmount }: ArgsOf<'BinSwapped'>): void {
    const bin = this.#bin(binIdx);
    bin.balance0 += delta0Scaled;
    bin.balance1 += delta1Scaled;
    const input = delta0Scaled > 0n ? delta0Scaled : delta1Scaled;
    this.#net += input - lpFeeAmount;
    this.#lpFee += lpFeeAmount;
    this.#output += input - delta0Scaled - delta1Scaled;
  }

  #swap({ newTick, newPositionInBin, exactInput, protocolFeeAmount, ...amounts }: ArgsOf<'Swap'>): void {
    const { state } = this;
    this.#moveCursor(BigInt(newTick), newPositionInBin);
    const { amount0Delta, amount1Delta } = amounts;
    const zeroForOne = amount0Delta > 0n || amount1Delta < 0n;
    const fee = ((exactInput ? this.#output : this.#net) * state.notionalFeeE8) / E8;
    if (zeroForOne === exactInput) state.notional1 += fee;
    else state.notional0 += fee;
    const owedScaled = this.#net + this.#lpFee + protocolFeeAmount + (exactInput ? 0n : fee);
    const dueScaled = this.#output - (exactInput ? fee : 0n);
    this.swaps.push({ zeroForOne, owedScaled, dueScaled, amount0Delta, amount1Delta });
    [this.#net, this.#lpFee, this.#output] = [0n, 0n, 0n];
  }

  #moveCursor(bin: bigint, position: bigint): void {
    const { state } = this;
    const { bins } = this.#pool.recipe;
    const lengthOf = (index: bigint) => BigInt(bins.find((shape) => BigInt(shape.bin) === index)?.lengthE6 ?? 0);
    for (; state.bin < bin; state.bin++) state.distanceE6 += lengthOf(state.bin);
    for (; state.bin > bin; state.bin--) state.distanceE6 -= lengthOf(state.bin - 1n);
    state.position = position;
  }

  #bin(index: bigint) {
    const bin = this.state.bins.get(index);
    if (bin === undefined) throw new Error(`an event names the unknown bin ${index}`);
    return bin;
  }
}

function atCreation({ recipe }: RandomPool): Summary {
  const bins = recipe.bins.map(({ bin, addFeeBuyE6 }) => {
    return [BigInt(bin), { balance0: 0n, balance1: 0n, shares: 0n, addFeeBuyE6: BigInt(addFeeBuyE6) }] as const;
  });
  return {
    bin: 0n,
    position: 0n,
    distanceE6: BigInt(recipe.curBinDistFromProvidedPriceE6),
    notional0: 0n,
    notional1: 0n,
    spreadFeeE6: BigInt(recipe.adminSpreadFeeE6) + PROTOCOL_SPREAD_E6,
    notionalFeeE8: BigInt(recipe.adminNotionalFeeE8) + PROTOCOL_NOTIONAL_E8,
    bins: new Map(bins),
  };
}
