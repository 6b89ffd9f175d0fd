import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, hexToBigInt } from 'viem';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LayoutAdapter, PoolHead } from '../../protocol/layout.ts';
import type { SellAndBuyPrices } from '../../protocol/layouts/flat/geometry.ts';
import type { PoolState } from '../../protocol/layouts/flat/pool-state.ts';
import { decodePriceFailure, type PriceFailure } from '../../protocol/quote-status.ts';
import type { ServedPool } from './pool-directory.ts';
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

/** Of the answers, as much as is decoded: two prices, or the selector of an error; one balance. */
const PRICES = { likelyGas: 250_000, gasLimit: 3_000_000, keptBytes: 64 };
const BALANCE = { likelyGas: 50_000, gasLimit: 500_000, keptBytes: 32 };

/** The calls whose results {@link decodePoolRead} takes: of the provider and both tokens, which may be anyone's. */
export function poolReadCalls(pool: ServedPool, layout: LayoutAdapter): BoundedCall[] {
  const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [pool.address] });
  return [
    { target: pool.address, data: layout.quote.sellAndBuyPricesCall, ...PRICES },
    { target: pool.token0.address, data: balanceOf, ...BALANCE },
    { target: pool.token1.address, data: balanceOf, ...BALANCE },
  ];
}

/**
 * @param storage the answer to `extsload`
 * @param results what {@link poolReadCalls} gave; none when the node did not run them
 * @throws SnapshotError when the pool's storage could not be read or makes no sense
 */
export function decodePoolRead(
  pool: ServedPool,
  layout: LayoutAdapter,
  storage: CallResult | undefined,
  results: readonly CallResult[],
): PoolRead {
  const [prices, balance0, balance1] = results;
  if (!storage?.success) throw new SnapshotError('read_failed', `storage of ${pool.address} was not read`);
  if (prices?.success && prices.data === '0x') throw new SnapshotError('read_failed', `no pool at ${pool.address}`);
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

function decodePrices(layout: LayoutAdapter, result: CallResult | undefined): SellAndBuyPrices | PriceFailure {
  if (!result) return 'unread';
  if (!result.success) return decodePriceFailure(result.data);
  return isWords(result.data, 2) ? layout.quote.decodeSellAndBuyPrices(result.data) : 'unexplained';
}

function decodeBalance(result: CallResult | undefined): bigint | null {
  if (!result?.success || !isWords(result.data, 1)) return null;
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: result.data });
}

/** Whether data holds at least this many words: a call of an address without code succeeds with none. */
export const isWords = (data: Hex, words: number): boolean => data.length >= 2 + words * 64;

/** The first word as an integer. */
export const firstWord = (data: Hex): bigint => (isWords(data, 1) ? hexToBigInt(data.slice(0, 66) as Hex) : -1n);
