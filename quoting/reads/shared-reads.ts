import type { Address } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { CurveSearch, FoundFormulas } from '../../protocol/curve-search.ts';
import type { DepthLevel, ExecutableLevels } from '../../protocol/depth.ts';
import type { LazyCurve } from '../../protocol/layout.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { CurveSides } from '../types.ts';

/** What is shared of a pool: the answers to its calls, and how far its sides trade where that takes further calls. */
export type SharedKind = 'answers' | 'sides';

/** What is shared of pools at a block. */
export interface SharedPools {
  readonly kind: SharedKind;
  readonly block: BlockRef;
  readonly pools: readonly Address[];
  /** Whether what was read is of the block: other processes read what is not. Default: it is. */
  readonly isAt?: () => boolean;
}

/** Shares reads among the processes that serve a chain, so that one process reads for all. */
export interface SharedReads {
  /** Whether this process is the one that reads, at this block, what clients of all processes request. */
  claim(block: BlockHeader): Promise<boolean>;
  /**
   * Gives what another process read of a pool at a block, as it wrote it. Waits while that may still come. Undefined:
   * this process has to read it.
   */
  find(kind: SharedKind, block: BlockRef, pool: Address): Promise<unknown>;
  /**
   * Sends these reads to the other processes, if this process reads the block for all.
   *
   * @param values in the order of the pools
   * @param write writes a value as JSON
   * @returns the values
   */
  share<T>(of: SharedPools, values: Promise<readonly T[]>, write: (value: T) => string): Promise<readonly T[]>;
  /** Notes that this process reads no further requested pools at a block. */
  end(block: BlockRef): Promise<void>;
}

/** For a process that reads for itself alone. */
export const UNSHARED: SharedReads = {
  claim: async () => false,
  find: async () => undefined,
  share: (_of, values) => values,
  end: async () => undefined,
};

/** How far a pool trades, or why that is not known. */
export type SidesOutcome = CurveSides | SnapshotError;

/** Returns an error of the pool, which any process gets at this block. @throws any other: the chain was not read */
export function ownFailure(error: unknown): SnapshotError {
  if (error instanceof SnapshotError && !(error.cause instanceof RpcFailure)) return error;
  throw error;
}

type WrittenLevel = readonly [bin: number, price: string, output: string, input: string, impact: string];
type WrittenSides =
  | { readonly code: SnapshotError['code']; readonly message: string }
  | {
      readonly bids: readonly WrittenLevel[] | null;
      readonly asks: readonly WrittenLevel[] | null;
      readonly found?: FoundFormulas | undefined;
    };

export function writeSides(outcome: SidesOutcome): string {
  const written: WrittenSides =
    outcome instanceof SnapshotError
      ? { code: outcome.code, message: outcome.message }
      : { bids: writeLevels(outcome.bids), asks: writeLevels(outcome.asks), found: outcome.curve?.found };
  return JSON.stringify(written);
}

/**
 * @param written what `writeSides` wrote, parsed
 * @param source what the curve is computed from
 */
export function readSides(written: unknown, source: LazyCurve | CurveSearch): SidesOutcome {
  const sides = written as WrittenSides;
  if ('code' in sides) return new SnapshotError(sides.code, sides.message);
  const curve = typeof source === 'function' ? source() : sides.found && source.byFormulas(sides.found);
  return { bids: sides.bids?.map(readLevel) ?? null, asks: sides.asks?.map(readLevel) ?? null, curve };
}

const writeLevels = (levels: ExecutableLevels) => levels?.map(writeLevel) ?? null;

const writeLevel = (level: DepthLevel): WrittenLevel => {
  const { bin, priceX64, cumulativeOutput, cumulativeInput, priceImpactE6 } = level;
  return [bin, `${priceX64}`, `${cumulativeOutput}`, `${cumulativeInput}`, `${priceImpactE6}`];
};

const readLevel = ([bin, price, output, input, impact]: WrittenLevel): DepthLevel => ({
  bin,
  priceX64: BigInt(price),
  cumulativeOutput: BigInt(output),
  cumulativeInput: BigInt(input),
  priceImpactE6: BigInt(impact),
});
