import { size, toFunctionSelector } from 'viem';
import { wordAt } from '../abi-words.ts';
import type { PriceDuty } from '../layout.ts';
import { priceFailure } from './pool-errors.ts';
import { providerStub, type QuoteShape } from './provider-stub.ts';

/** Answered by two words of uint128: the price to sell at and the one to buy at, Q64.64. */
const PRICES_CALL = toFunctionSelector('getSellAndBuyPrices()');
const TWO_WORDS = 64;

/** The prices of pools that tell them by `getSellAndBuyPrices`, and ask their provider for a quote of this shape. */
export function poolPrices(quote: QuoteShape): PriceDuty {
  return {
    call: PRICES_CALL,
    decode({ success, data }) {
      if (!success) return priceFailure(data);
      // A call of an address without code succeeds with no data.
      if (size(data) < TWO_WORDS) return 'unexplained';
      return { sellX64: wordAt(data, 0), buyX64: wordAt(data, 1) };
    },
    providerStubCode: providerStub(quote),
    providerQuoteCall: quote.selector,
    decodeQuote({ success, data }) {
      if (!success || size(data) < quote.words * 32) return undefined;
      return { bidX64: wordAt(data, 0), askX64: wordAt(data, 1) };
    },
  };
}
