import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, hexToBigInt } from 'viem';
import type { SellAndBuyPrices } from '../../protocol/geometry.ts';
import type { LayoutAdapter, PoolHead } from '../../protocol/layout.ts';
import type { PoolState } from '../../protocol/pool-state.ts';
import { decodePriceFailure, type PriceFailure } from '../../protocol/quote-status.ts';
import type { ServedPool } from './pool-directory.ts';
import type { CallResult, ContractCall } from './rpc/multicall.ts';
import { SnapshotError } from './types.ts';

/** What a pool says of itself at one block, apart from its provider's quote. */
export interface PoolRead {
  readonly head: PoolHead;
  readonly state: PoolState;
  /** What `getSellAndBuyPrices` answered, or why it did not. */
  readonly prices: SellAndBuyPrices | PriceFailure;
  /** Raw units; null when the token did not answer. */
  readonly balance0Raw: bigint | null;
  readonly balance1Raw: bigint | null;
}

/** Upper estimates of gas, calldata included: a cold storage read costs 2,100 and its 32 bytes of calldata 512. */
const GAS = { extsload: 10_000, perSlot: 3_000, prices: 250_000, balance: 50_000 };

/** The calls that {@link decodePoolRead} takes the results of. */
export function poolReadCalls(pool: ServedPool, layout: LayoutAdapter): ContractCall[] {
  const slots = layout.storage.stateSlots(pool.immutables);
  const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [pool.address] });
  return [
    {
      target: pool.address,
      data: layout.storage.encodeExtsload(slots),
      gas: GAS.extsload + slots.length * GAS.perSlot,
    },
    { target: pool.address, data: layout.quote.sellAndBuyPricesCall, gas: GAS.prices },
    { target: pool.token0.address, data: balanceOf, gas: GAS.balance },
    { target: pool.token1.address, data: balanceOf, gas: GAS.balance },
  ];
}

/** @throws SnapshotError when the pool's storage could not be read or makes no sense */
export function decodePoolRead(pool: ServedPool, layout: LayoutAdapter, results: readonly CallResult[]): PoolRead {
  const [storage, prices, balance0, balance1] = results;
  if (!storage?.success || !prices) throw new SnapshotError('read_failed', `storage of ${pool.address} was not read`);
  try {
    return {
      ...layout.storage.decodeState(pool.immutables, layout.storage.decodeExtsload(storage.data)),
      prices: decodePrices(layout, prices),
      balance0Raw: decodeBalance(balance0),
      balance1Raw: decodeBalance(balance1),
    };
  } catch (cause) {
    throw new SnapshotError('read_failed', `storage of ${pool.address} does not decode`, { cause });
  }
}

function decodePrices(layout: LayoutAdapter, { success, data }: CallResult): SellAndBuyPrices | PriceFailure {
  if (!success) return decodePriceFailure(data);
  return isWords(data, 2) ? layout.quote.decodeSellAndBuyPrices(data) : 'unexplained';
}

function decodeBalance(result: CallResult | undefined): bigint | null {
  if (!result?.success || !isWords(result.data, 1)) return null;
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: result.data });
}

/** Whether data holds at least this many words: a call of an address without code succeeds with none. */
export const isWords = (data: Hex, words: number): boolean => data.length >= 2 + words * 64;

/** The first word as an integer. */
export const firstWord = (data: Hex): bigint => (isWords(data, 1) ? hexToBigInt(data.slice(0, 66) as Hex) : -1n);
