import type { Address, Hex } from 'viem';
import type { BoundedCall, CallResult } from './bounded-calls/bounded-calls.ts';
import type { PoolImmutables } from './pool-state.ts';

/** A block that calls are made at. */
export interface CalibrationBlock {
  readonly number: bigint;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/** A log of a pool. */
export interface PoolLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logIndex: number;
}

/** What a calibration reads from a chain. */
export interface CalibrationChain {
  head(): Promise<CalibrationBlock>;
  blockAt(number: bigint): Promise<CalibrationBlock>;
  /** All logs of these contracts in blocks of a range, both ends included. */
  logs(addresses: readonly Address[], fromBlock: bigint, toBlock: bigint): Promise<readonly PoolLog[]>;
  /**
   * Makes one call; null when no node answers, such as when the call reverts or the block is too old.
   *
   * @param code to put at the address for the time of the call
   */
  call(block: CalibrationBlock, to: Address, data: Hex, code?: Hex): Promise<Hex | null>;
  /** Makes calls isolated from each other and keeps their revert data; null for a call that was not begun. */
  attempts(block: CalibrationBlock, calls: readonly BoundedCall[]): Promise<readonly (CallResult | null)[]>;
}

/** A pool whose factory is calibrated. */
export interface CalibrationPool extends PoolImmutables {
  readonly address: Address;
  readonly priceProvider: Address;
}

export interface CalibrationTask {
  /** Pools that are likely to show something come first. */
  readonly pools: readonly CalibrationPool[];
  /** The official lens, when its address is known. */
  readonly lens: Address | undefined;
  /** Most swaps to look at. */
  readonly swaps: number;
}

/** How many observations agree with one interpretation, and how many contradict it. */
export interface InterpretationEvidence {
  readonly name: string;
  readonly agreed: number;
  readonly contradicted: number;
  /** Names of the first observations that contradict. */
  readonly examples: readonly string[];
}

/** The result of one question that a calibration asks about a factory. */
export interface Finding {
  readonly what: string;
  /** The interpretation that holds; null as long as it is not certain. */
  readonly decided: string | null;
  readonly observations: number;
  /** Observations that contradict some interpretation. */
  readonly decisive: number;
  readonly interpretations: readonly InterpretationEvidence[];
}
