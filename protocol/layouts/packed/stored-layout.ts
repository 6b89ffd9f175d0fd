import { size } from 'viem';
import type { StoredLayout } from '../../stored-layout.ts';
import { CALIBRATED, calibratePacked } from './calibration/calibrate.ts';
import { STORAGE_ARRANGEMENTS } from './candidates.ts';
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
  calibrated: CALIBRATED,
  calibrate: calibratePacked,
};

const both = ({ token0Scaled, token1Scaled }: TokenPair) => [token0Scaled, token1Scaled] as const;
