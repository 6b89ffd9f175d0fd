import type { CalibrationChain, CalibrationTask, Finding } from '../../../calibration.ts';
import { NO_ARRANGEMENT } from '../../../stored-layout.ts';
import { finding } from '../../../verdict.ts';
import { STORAGE_ARRANGEMENTS } from '../candidates.ts';
import { packedStorage } from '../storage.ts';
import { judgeArrangements } from './arrangements.ts';
import { observeSwaps } from './observe-swaps.ts';
import { judgeSimulation } from './simulation-forms.ts';
import { judgeWords } from './word-readings.ts';

/** What a calibration decides of a factory, in the order in which it is shown. */
export const CALIBRATED = [
  'storage',
  'simulation',
  'details',
  'deltaScale',
  'fees',
  'platformFees',
  'notional',
] as const;

/**
 * Holds every reading of what is not publicly known of a factory's pools against the chain: arrangements of storage
 * against the lens, words of recent swaps against the storage around them, forms of simulation by asking.
 *
 * @throws what `chain` throws
 */
export async function calibratePacked(
  chain: CalibrationChain,
  { pools, lens, swaps }: CalibrationTask,
): Promise<readonly Finding[]> {
  const arrangement = await judgeArrangements(chain, pools, lens);
  const simulation = await judgeSimulation(chain, await chain.head(), pools);
  const decided = STORAGE_ARRANGEMENTS.find(({ name }) => name === arrangement.decided) ?? STORAGE_ARRANGEMENTS[0];
  const isReadable = arrangement.decided !== NO_ARRANGEMENT;
  const seen = isReadable ? await observeSwaps(chain, packedStorage(decided), pools, swaps) : [];
  const words = judgeWords(seen.map(({ observed }) => observed));
  const ofWords = Object.entries(words).map(([what, verdict]) => finding(what, verdict, seen));
  return [arrangement, simulation, ...ofWords];
}
