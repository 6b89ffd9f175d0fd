import { size } from 'viem';
import type { StoredLayout } from '../../stored-layout.ts';
import { NO_ARRANGEMENT } from './calibration/arrangements.ts';
import { CALIBRATED, calibratePacked } from './calibration/calibrate.ts';
import { FEES_READINGS, NOTIONAL_READINGS, PLATFORM_FEES_READINGS, STORAGE_ARRANGEMENTS } from './candidates.ts';
import { lpFees, platformFees } from './fee-totals.ts';
import { decodeExtsload, encodeExtsload, HEAD_SLOTS, packedStorage, type TokenPair } from './storage.ts';

const storage = packedStorage(STORAGE_ARRANGEMENTS[0]);
/** A list of words: where it begins, its length, the words. */
const HEAD_BYTES = 32 * (2 + HEAD_SLOTS.length);

/** What capture reads of packed pools, by the arrangement that is tried first. */
export const packedStoredLayout: StoredLayout = {
  headCall: { data: encodeExtsload(HEAD_SLOTS), answerBytes: HEAD_BYTES },
  decodeHead({ success, data }) {
    if (!success || size(data) < HEAD_BYTES) return null;
    const words = decodeExtsload(data);
    if (words.length !== HEAD_SLOTS.length) return null;
    const { cursor, binTotals, notionalFees } = storage.decodeHead(words);
    return { cursor, totalsScaled: both(binTotals), notionalFeesScaled: both(notionalFees) };
  },
  isStorageKnown: ({ storage: arrangement }) => arrangement !== NO_ARRANGEMENT,
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
