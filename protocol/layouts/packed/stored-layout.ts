import { NO_ARRANGEMENT, type StoredLayout } from '../../stored-layout.ts';
import { HEAD_BYTES, HEAD_DATA, readHead, type TokenPair } from '../storage.ts';
import { CALIBRATED, calibratePacked } from './calibration/calibrate.ts';
import { lpFees, platformFees } from './fee-totals.ts';
import { FEES, NOTIONAL, PLATFORM_FEES } from './interpretations.ts';
import { packedStorage } from './storage.ts';

/** What capture reads of packed pools. */
export const packedStoredLayout: StoredLayout = {
  // Four storage words cost 8,400 when nothing was read before.
  headCall: { data: HEAD_DATA, keptBytes: HEAD_BYTES, likelyGas: 15_000, gasLimit: 100_000 },
  decodeHead(result) {
    const head = readHead(packedStorage, result);
    if (head === null) return null;
    const { cursor, binTotals, notionalFees } = head;
    return { cursor, totalsScaled: both(binTotals), notionalFeesScaled: both(notionalFees) };
  },
  isStorageKnown: ({ storage }) => storage !== NO_ARRANGEMENT,
  lpFeesScaled({ fees }, totals) {
    const known = knownAs(FEES, fees);
    const sales = { high: totals.saleBinFeesHigh, low: totals.saleBinFeesLow };
    const purchases = { high: totals.purchaseBinFeesHigh, low: totals.purchaseBinFeesLow };
    return known ? both(lpFees(known, { sales, purchases })) : null;
  },
  platformFeesScaled({ platformFees: name, notional }, totals) {
    const known = knownAs(PLATFORM_FEES, name);
    const sales = { high: totals.salePlatformFeesHigh, low: totals.salePlatformFeesLow };
    const purchases = { high: totals.purchasePlatformFeesHigh, low: totals.purchasePlatformFeesLow };
    const fees = known ? platformFees(known, knownAs(NOTIONAL, notional), { sales, purchases }) : null;
    return fees && both(fees);
  },
  calibrated: CALIBRATED,
  calibrate: calibratePacked,
};

/** An interpretation that this build knows. */
const knownAs = <Name extends string>(names: readonly Name[], name: string | null | undefined): Name | null =>
  names.find((each) => each === name) ?? null;

const both = ({ token0Scaled, token1Scaled }: TokenPair) => [token0Scaled, token1Scaled] as const;
