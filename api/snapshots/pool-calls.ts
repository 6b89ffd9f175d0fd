import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { SellAndBuyPrices } from '../../protocol/curve.ts';
import type { LayoutAdapter, PoolAtBlock } from '../../protocol/layout.ts';
import type { PriceFailure } from '../../protocol/quote-status.ts';
import type { ServedPool } from './pool-directory.ts';
import { SnapshotError } from './types.ts';

/** What a pool says of itself at one block, apart from its provider's quote. */
export interface PoolRead {
  readonly state: PoolAtBlock;
  /** The pool's prices, or why it gave none. */
  readonly prices: SellAndBuyPrices | PriceFailure;
  /** Raw units; null when the token did not answer. */
  readonly balance0Raw: bigint | null;
  readonly balance1Raw: bigint | null;
}

/** Of the answer, as much as is decoded: two prices, or the selector of an error. */
const PRICES = { likelyGas: 250_000, gasLimit: 3_000_000, keptBytes: 64 };

/** The calls whose results {@link decodePoolRead} takes: of the provider and both tokens, which may be anyone's. */
export function poolReadCalls({ address, token0, token1 }: ServedPool, layout: LayoutAdapter): BoundedCall[] {
  return [
    { target: address, data: layout.prices.call, ...PRICES },
    balanceCall(token0.address, address),
    balanceCall(token1.address, address),
  ];
}

/**
 * @param storage the answer to the layout's call for the state
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
      state: layout.state.decode(pool.immutables, storage.data),
      prices: prices ? layout.prices.decode(prices) : 'unread',
      balance0Raw: readBalance(balance0),
      balance1Raw: readBalance(balance1),
    };
  } catch (cause) {
    throw new SnapshotError('read_failed', `storage of ${pool.address} does not decode`, { cause });
  }
}
