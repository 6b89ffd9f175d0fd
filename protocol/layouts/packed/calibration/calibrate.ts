import type { CalibrationChain, CalibrationTask, Finding } from '../../../calibration.ts';
import { NO_ARRANGEMENT } from '../../../stored-layout.ts';
import { finding } from '../../../verdict.ts';
import { checkStorage } from './check-storage.ts';
import { evaluateWords } from './evaluate-words.ts';
import { observeSwaps } from './observe-swaps.ts';

/** What a calibration decides of a factory, in the order in which it is shown. */
export const CALIBRATED = ['storage', 'details', 'deltaScale', 'fees', 'platformFees', 'notional'] as const;

/**
 * Compares with the chain what is not publicly known of a factory's pools: their storage with the lens and with itself, and
 * every interpretation of the words of recent swaps with the storage around them.
 *
 * @throws what `chain` throws
 */
export async function calibratePacked(
  chain: CalibrationChain,
  { pools, lens, swaps }: CalibrationTask,
): Promise<readonly Finding[]> {
  const storage = await checkStorage(chain, pools, lens);
  const seen = storage.decided === NO_ARRANGEMENT ? [] : await observeSwaps(chain, pools, swaps);
  const words = evaluateWords(seen.map(({ observed }) => observed));
  return [storage, ...Object.entries(words).map(([what, verdict]) => finding(what, verdict, seen))];
}
