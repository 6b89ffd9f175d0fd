import type { TokenPair } from '../../pool-state.ts';
import { NO_ARRANGEMENT, STORAGE, type StoredLayout } from '../../stored-layout.ts';
import { HEAD_BYTES, HEAD_DATA, readHead } from '../storage.ts';
import { ARRANGEMENT, checkStorage } from './calibration/check-storage.ts';
import { evaluateWords, WORDS } from './calibration/evaluate-words.ts';
import { observeSwaps } from './calibration/observe-swaps.ts';
import { packedStorage } from './storage.ts';

/** What capture reads from packed pools. Fees can be summed by direction before anyone knows what their halves mean. */
export const packedStoredLayout: StoredLayout = {
  // Four storage words cost 8,400 when nothing was read before.
  headCall: { data: HEAD_DATA, keptBytes: HEAD_BYTES, likelyGas: 15_000, gasLimit: 100_000 },
  decodeHead(result) {
    const head = readHead(packedStorage, result);
    if (head === null) return null;
    const { cursor, binTotals, notionalFees } = head;
    return { cursor, totalsScaled: both(binTotals), notionalFeesScaled: both(notionalFees) };
  },
  isStorageKnown: ({ storage }) => storage === ARRANGEMENT,
  lpFeesScaled({ fees }, { saleBinFeesHigh, saleBinFeesLow, purchaseBinFeesHigh, purchaseBinFeesLow }) {
    if (fees === 'token') return [saleBinFeesHigh + purchaseBinFeesHigh, saleBinFeesLow + purchaseBinFeesLow];
    return fees === 'kind' ? [saleBinFeesHigh, purchaseBinFeesHigh] : null;
  },
  platformFeesScaled({ platformFees, notional }, totals) {
    const [saleHigh, saleLow] = [totals.salePlatformFeesHigh, totals.salePlatformFeesLow];
    const [purchaseHigh, purchaseLow] = [totals.purchasePlatformFeesHigh, totals.purchasePlatformFeesLow];
    if (platformFees === 'token') return [saleHigh + purchaseHigh, saleLow + purchaseLow];
    // The sums do not show in which token notional fees were paid.
    const isTokenKnown = notional === 'input' || saleLow + purchaseLow === 0n;
    return platformFees === 'kind' && isTokenKnown ? [saleHigh + saleLow, purchaseHigh + purchaseLow] : null;
  },
  calibrated: [STORAGE, ...WORDS],
  checkStorage,
  async calibrate(chain, { pools, lens, swaps }) {
    const storage = await checkStorage(chain, pools, lens);
    const seen = storage.decided === NO_ARRANGEMENT ? [] : await observeSwaps(chain, pools, swaps);
    return [storage, ...evaluateWords(seen)];
  },
};

const both = ({ token0Scaled, token1Scaled }: TokenPair) => [token0Scaled, token1Scaled] as const;
