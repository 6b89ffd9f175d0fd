import { type Address, encodeFunctionData, type Hex, prepareEncodeFunctionData } from 'viem';
import type { PoolSide, SellAndBuyPrices } from '../../curve.ts';
import { MAX_INT128, MAX_UINT128 } from '../../fixed-point.ts';
import type { LazyCurve } from '../../layout.ts';
import type { PoolState } from '../../pool-state.ts';
import { swapOutcome } from '../pool-errors.ts';
import { isTradableQuote, pricePool, sellAndBuyPrices } from './geometry.ts';
import { flatPoolFunctions } from './pool-abi.ts';
import type { ProviderQuote } from './provider-quote.ts';
import { invertPrices } from './quote-inversion.ts';
import { levelsWithin, type SideCurve, walkSides } from './side-curve.ts';
import { stopLossLimit } from './stop-loss-limit.ts';

/** A swap takes about 110,000 beside its bins, with a stop loss. */
const SWAP_GAS_LIMIT = 400_000;
/** Two bins more. */
export const UNIT_SWAP_GAS_LIMIT = SWAP_GAS_LIMIT + 220_000;

/** See `PoolAtBlock`. */
export function flatCurve(
  state: PoolState,
  prices: SellAndBuyPrices,
  told: ProviderQuote | undefined,
): LazyCurve | null {
  const quote = told && explains(state, prices, told) ? told : invertPrices(state, prices);
  if (!quote) return null;
  let curve: ReturnType<LazyCurve> | undefined;
  return () => {
    if (!curve) {
      const { bids, asks } = walkSides(pricePool(state, quote));
      curve = { bids: flatSide(bids, quote), asks: flatSide(asks, quote) };
    }
    return curve;
  };
}

function explains(state: PoolState, prices: SellAndBuyPrices, quote: ProviderQuote): boolean {
  if (!isTradableQuote(quote)) return false;
  const computed = sellAndBuyPrices(state, quote);
  return computed.sellX64 === prices.sellX64 && computed.buyX64 === prices.buyX64;
}

function flatSide(curve: SideCurve, quote: ProviderQuote): PoolSide {
  const { zeroForOne, levels, priced } = curve;
  const { multiplier0, multiplier1 } = priced.state.scale;
  return {
    zeroForOne,
    levels,
    maxInput: MAX_INT128 / (zeroForOne ? multiplier0 : multiplier1),
    levelsWithin: (most, end) => levelsWithin(curve, most, end),
    stopLossLimit: (mark, state) => stopLossLimit(curve, quote, mark, state),
    swapGasLimit: SWAP_GAS_LIMIT,
    simulation: (amount, recipient) => encodeSimulation(zeroForOne, amount, quote, recipient),
    swapOutcome,
  };
}

const SIMULATE_SWAP = prepareEncodeFunctionData({ abi: flatPoolFunctions, functionName: 'simulateSwapAndRevert' });

/** @param amount raw units: positive = exact input, negative = exact output */
export function encodeSimulation(
  zeroForOne: boolean,
  amount: bigint,
  { bidX64, askX64 }: ProviderQuote,
  recipient: Address,
): Hex {
  return encodeFunctionData({
    ...SIMULATE_SWAP,
    args: [recipient, zeroForOne, amount, zeroForOne ? 0n : MAX_UINT128, bidX64, askX64, '0x'],
  });
}
