import { NO_ARRANGEMENT, type StoredLayout } from '../../stored-layout.ts';
import { decodeExtsload, encodeExtsload } from '../extsload.ts';
import { CALIBRATED, calibratePacked } from './calibration/calibrate.ts';
import { DELTA_SCALES, FEES_READINGS, NOTIONAL_READINGS, PLATFORM_FEES_READINGS } from './candidates.ts';
import { lpFees, platformFees } from './fee-totals.ts';
import { decodeHead, HEAD_BYTES, HEAD_DATA, storage } from './head-call.ts';
import type { TokenPair } from './storage.ts';

/** What capture reads of packed pools, by the arrangement that is tried first. */
export const packedStoredLayout: StoredLayout = {
  // Four storage words cost 8,400 when nothing was read before.
  headCall: { data: HEAD_DATA, keptBytes: HEAD_BYTES, likelyGas: 15_000, gasLimit: 100_000 },
  decodeHead(result) {
    const head = decodeHead(result);
    if (head === null) return null;
    const { cursor, binTotals, notionalFees } = head;
    return { cursor, totalsScaled: both(binTotals), notionalFeesScaled: both(notionalFees) };
  },
  isStorageKnown: ({ storage: arrangement }) => arrangement !== NO_ARRANGEMENT,
  binsData: (bins) => encodeExtsload(bins.map(storage.binSlot)),
  decodeBins({ success, data }) {
    try {
      return success ? decodeExtsload(data).map((word) => both(storage.decodeBin(word))) : null;
    } catch {
      return null;
    }
  },
  deltaUnits({ storage: arrangement, deltaScale }, { multiplier0, multiplier1 }) {
    const unit = named(DELTA_SCALES, deltaScale);
    if (arrangement === NO_ARRANGEMENT || unit === null) return null;
    return unit === 'scaled' ? [1n, 1n] : [multiplier0, multiplier1];
  },
  lpFeesScaled({ fees }, totals) {
    const reading = named(FEES_READINGS, fees);
    const sales = { high: totals.saleBinFeesHigh, low: totals.saleBinFeesLow };
    const purchases = { high: totals.purchaseBinFeesHigh, low: totals.purchaseBinFeesLow };
    return reading ? both(lpFees(reading, { sales, purchases })) : null;
  },
  platformFeesScaled({ platformFees: name, notional }, totals) {
    const reading = named(PLATFORM_FEES_READINGS, name);
    const sales = { high: totals.salePlatformFeesHigh, low: totals.salePlatformFeesLow };
    const purchases = { high: totals.purchasePlatformFeesHigh, low: totals.purchasePlatformFeesLow };
    const sums = { sales, purchases };
    const fees = reading ? platformFees(reading, named(NOTIONAL_READINGS, notional), sums) : null;
    return fees && both(fees);
  },
  calibrated: CALIBRATED,
  calibrate: calibratePacked,
};

/** The name of a reading that this build knows. */
function named<Name extends string>(
  readings: readonly { readonly name: Name }[],
  name: string | null | undefined,
): Name | null {
  return readings.find((reading) => reading.name === name)?.name ?? null;
}

const both = ({ token0Scaled, token1Scaled }: TokenPair) => [token0Scaled, token1Scaled] as const;
