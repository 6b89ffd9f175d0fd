import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { flatPoolFunctions } from '../../abi/pool.ts';
import { providerFunctions } from '../../abi/providers.ts';
import { walkSides } from '../../depth.ts';
import { MAX_UINT128 } from '../../fixed-point.ts';
import { pricePool, sellAndBuyPrices } from '../../geometry.ts';
import type { ComputedCurve, LayoutAdapter, QuoteDuty } from '../../layout.ts';
import { invertPrices } from '../../quote-inversion.ts';
import { providerStubCode } from './provider-stub.ts';
import { flatStopLoss } from './stop-loss.ts';
import { flatStorage } from './storage.ts';

const flatQuote: QuoteDuty = {
  sellAndBuyPricesCall: encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getSellAndBuyPrices' }),
  decodeSellAndBuyPrices(result) {
    const [sellX64, buyX64] = decodeFunctionResult({
      abi: flatPoolFunctions,
      functionName: 'getSellAndBuyPrices',
      data: result,
    });
    return { sellX64, buyX64 };
  },
  invertPrices,
  providerStubCode,
  providerQuoteCall: encodeFunctionData({ abi: providerFunctions, functionName: 'getBidAndAskPrice' }),
  decodeProviderQuote(result) {
    const [bidX64, askX64] = decodeFunctionResult({
      abi: providerFunctions,
      functionName: 'getBidAndAskPrice',
      data: result,
    });
    return { bidX64, askX64 };
  },
};

const flatCurve: ComputedCurve = {
  kind: 'computed',
  prices: sellAndBuyPrices,
  sides: (state, quote) => walkSides(pricePool(state, quote)),
  encodeSimulation({ zeroForOne, amountSpecified }, { bidX64, askX64 }, recipient) {
    const priceLimitX64 = zeroForOne ? 0n : MAX_UINT128;
    return encodeFunctionData({
      abi: flatPoolFunctions,
      functionName: 'simulateSwapAndRevert',
      args: [recipient, zeroForOne, amountSpecified, priceLimitX64, bidX64, askX64, '0x'],
    });
  },
};

/** Pools whose arithmetic, storage and events are public. */
export const flatAdapter: LayoutAdapter = {
  layout: 'flat',
  storage: flatStorage,
  quote: flatQuote,
  curve: flatCurve,
  stopLoss: flatStopLoss,
};
