import type { Address } from 'viem';
import type { BoundedCall, CallResult } from './bounded-calls/bounded-calls.ts';
import type { CalibrationChain, CalibrationPool, CalibrationTask, Finding } from './calibration.ts';
import type { Cursor } from './pool-state.ts';
import type { Totals } from './pool-totals.ts';

/** What {@link StoredLayout.checkStorage} is about. */
export const STORAGE = 'storage';
/** The decision about the storage of a factory's pools when every known arrangement is contradicted. */
export const NO_ARRANGEMENT = 'none';

/** What capture needs of a layout whose events do not report all of a pool's state. Nothing here does I/O by itself. */
export interface StoredLayout {
  /** Asks a pool for its {@link StoredHead}. */
  readonly headCall: Omit<BoundedCall, 'target'>;
  /** @returns null when the result is not an answer */
  decodeHead(result: CallResult): StoredHead | null;
  /** Whether it is decided that {@link decodeHead} reads these pools rightly. */
  isStorageKnown(interpretations: Interpretations): boolean;
  /** Fees that stayed with liquidity providers; null as long as interpretations do not show it. */
  lpFeesScaled(interpretations: Interpretations, totals: BinFeeTotals): readonly [bigint, bigint] | null;
  /** Fees of the platform, notional fees included; null as long as interpretations do not show it. */
  platformFeesScaled(interpretations: Interpretations, totals: PlatformFeeTotals): readonly [bigint, bigint] | null;
  /** Names of the findings that calibration decides for each factory, in the order in which they are shown. */
  readonly calibrated: readonly string[];
  /**
   * Finds out from pools that hold something whether {@link decodeHead} reads them rightly: a finding about `storage`.
   */
  checkStorage(chain: CalibrationChain, pools: readonly CalibrationPool[], lens: Address | undefined): Promise<Finding>;
  /** Finds out from the chain what is not public about a factory; one finding for each name. */
  calibrate(chain: CalibrationChain, task: CalibrationTask): Promise<readonly Finding[]>;
}

/** Decided interpretations of a factory, by what they are about. */
export type Interpretations = Readonly<Record<string, string | null | undefined>>;

export type BinFeeTotals = Pick<
  Totals,
  'saleBinFeesHigh' | 'saleBinFeesLow' | 'purchaseBinFeesHigh' | 'purchaseBinFeesLow'
>;
export type PlatformFeeTotals = Pick<
  Totals,
  'salePlatformFeesHigh' | 'salePlatformFeesLow' | 'purchasePlatformFeesHigh' | 'purchasePlatformFeesLow'
>;

/** What a pool's storage holds. Amounts are scaled, token0 first. */
export interface StoredHead {
  readonly cursor: Cursor;
  /** Owned by liquidity providers, over all bins. */
  readonly totalsScaled: readonly [bigint, bigint];
  /** Notional fees accrued and not collected. */
  readonly notionalFeesScaled: readonly [bigint, bigint];
}
