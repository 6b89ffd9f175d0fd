import { encodeFunctionData, prepareEncodeFunctionData, toFunctionSelector } from 'viem';
import { wordAt } from '../../abi-words.ts';
import type { BidAsk, PoolCurve } from '../../curve.ts';
import { isqrtFloor, MAX_UINT128 } from '../../fixed-point.ts';
import type { PoolState } from '../../pool-state.ts';
import { createAdapter, type LayoutParts, type ReadPrices } from '../create-adapter.ts';
import { poolCurve } from '../pool-side.ts';
import { stopLossReader } from '../stop-loss-reader.ts';
import { isTradableQuote, pricePool, sellAndBuyPrices, walkSides } from './geometry.ts';
import { flatPoolFunctions } from './pool-abi.ts';
import { invertPrices } from './quote-inversion.ts';
import { flatStorage } from './storage.ts';

const SIMULATE_SWAP = prepareEncodeFunctionData({ abi: flatPoolFunctions, functionName: 'simulateSwapAndRevert' });

/** How swaps of flat pools are simulated. */
export const flatSimulation: LayoutParts['simulation'] = {
  forms: ['flat'],
  encode(_, { zeroForOne, amountSpecified, quote: { bidX64, askX64 }, trader }) {
    const limit = zeroForOne ? 0n : MAX_UINT128;
    const args = [trader, zeroForOne, amountSpecified, limit, bidX64, askX64, '0x'] as const;
    return encodeFunctionData({ ...SIMULATE_SWAP, args });
  },
  amountOffset: () => 4 + 2 * 32,
  // With a stop loss, a swap takes about 110,000 besides its bins.
  gasLimit: 400_000,
};

/** How pools are read whose arithmetic, storage and events are public. */
export const flatAdapter = createAdapter({
  layout: 'flat',
  quote: {
    selector: toFunctionSelector('getBidAndAskPrice()'),
    words: 2,
    decode(data) {
      const [bidX64, askX64] = [wordAt(data, 0), wordAt(data, 1)];
      return { bidX64, askX64, referenceX64: isqrtFloor(bidX64 * askX64) };
    },
  },
  storage: flatStorage,
  /** Derives a quote from the prices where the reported quote does not explain them. */
  curve(state, _, { prices, quote: reported }) {
    const quote = reported && explains(state, prices, reported) ? reported : invertPrices(state, prices);
    if (!quote) return null;
    let curve: PoolCurve | undefined;
    return () => {
      curve ??= curveAt(state, quote);
      return curve;
    };
  },
  expectedCurve: (state, quote) => (isTradableQuote(quote) ? curveAt(state, quote) : null),
  stopLoss: stopLossReader({ mark: 'mean', binType: 'int8', decayScale: 10n ** 8n }),
  velocityWord: 2,
  stored: null,
  simulation: flatSimulation,
});

const curveAt = (state: PoolState, quote: BidAsk): PoolCurve =>
  poolCurve(walkSides(pricePool(state, quote)), flatSimulation, 'flat');

function explains(state: PoolState, prices: ReadPrices['prices'], quote: BidAsk): boolean {
  if (!isTradableQuote(quote)) return false;
  const computed = sellAndBuyPrices(state, quote);
  return computed.sellX64 === prices.sellX64 && computed.buyX64 === prices.buyX64;
}
