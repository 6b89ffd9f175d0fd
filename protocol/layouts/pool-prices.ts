import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi, size, toFunctionSelector } from 'viem';
import type { PriceDuty } from '../layout.ts';
import type { PriceFailure } from '../quote-status.ts';
import { providerStubCode, type QuoteShape } from './provider-stub.ts';

const PRICES_ABI = parseAbi(['function getSellAndBuyPrices() returns (uint128 sellPriceX64, uint128 buyPriceX64)']);
const TWO_WORDS = 64;

const PROVIDER_FAILED = toFunctionSelector('PriceProviderFailed(bytes)');
const REFUSED_QUOTES: readonly string[] = [
  'BidGreaterThanAsk()',
  'BidIsZero()',
  // Of pools that a reference anchors.
  'ReferencePriceOutOfRange()',
].map((error) => toFunctionSelector(error));

const PRICES_CALL = encodeFunctionData({ abi: PRICES_ABI });

/** The prices of pools that tell them by `getSellAndBuyPrices`, and ask their provider for a quote of this shape. */
export function poolPrices(quote: QuoteShape): PriceDuty {
  return {
    call: PRICES_CALL,
    decode({ success, data }) {
      if (!success) return decodePriceFailure(data);
      // A call of an address without code succeeds with no data.
      if (size(data) < TWO_WORDS) return 'unexplained';
      const [sellX64, buyX64] = decodeFunctionResult({ abi: PRICES_ABI, data });
      return { sellX64, buyX64 };
    },
    providerStubCode: (immutableProvider) => providerStubCode(immutableProvider, quote),
    providerQuoteCall: quote.selector,
  };
}

/** Reads the revert data of the pool's `getSellAndBuyPrices`. */
export function decodePriceFailure(revertData: Hex): PriceFailure {
  const selector = revertData.slice(0, 10).toLowerCase();
  if (selector === PROVIDER_FAILED) return 'feedDown';
  return REFUSED_QUOTES.includes(selector) ? 'quoteRefused' : 'unexplained';
}
