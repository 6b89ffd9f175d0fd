import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import type { ExecutableLevels, TradingSides } from '../../protocol/guards/side-claim.ts';
import type { HeadSource, HeadTracker } from '../heads/head-tracker.ts';
import { SnapshotError } from '../snapshot-error.ts';

/** What is read of a pool: what its calls gave, and how far it trades where more calls say that. */
export type SharedKind = 'answers' | 'sides';

/** What one process, the leading one, reads of a chain for all that serve it. */
export interface SharedReads {
  /** Whether heads come from the leading process. */
  readonly isFollowing: boolean;
  /** Whether the leading process says that this block is still the head. */
  confirms(block: BlockRef): boolean;
  /** Takes the clock to which the heads of the leading process are pushed. */
  drive(clock: HeadTracker<ReportedHead>): void;
  /**
   * What the leading process read of a pool at a block, as it wrote it; waits while it reads. Undefined: to be read.
   */
  find(kind: SharedKind, block: BlockRef, pool: Address): Promise<unknown>;
  /**
   * Gives these reads to the others, when this process leads.
   *
   * @param values of the pools, in order
   * @param write a value as JSON
   * @returns the values
   */
  share<T>(
    kind: SharedKind,
    block: BlockRef,
    pools: readonly Address[],
    values: Promise<readonly T[]>,
    write: (value: T) => string,
  ): Promise<readonly T[]>;
}

/** Of a process that reads for itself alone. */
export const UNSHARED: SharedReads = {
  isFollowing: false,
  confirms: () => false,
  drive: () => undefined,
  find: async () => undefined,
  share: (_kind, _block, _pools, values) => values,
};

/** Nodes whose head is not looked up while the leading process says that it is the one known here. */
export function sharedHeads(
  nodes: HeadSource<ReportedHead>,
  shared: SharedReads,
  known: () => ReportedHead | undefined,
): HeadSource<ReportedHead> {
  const confirmed = (): ReportedHead | undefined => {
    const head = known();
    return head && shared.confirms(head.block) ? head : undefined;
  };
  return {
    header: (hash, number) => nodes.header(hash, number),
    head: async () => confirmed() ?? nodes.head(),
    heads: async () => {
      const head = confirmed();
      return head ? [head] : nodes.heads();
    },
  };
}

/** How far a pool trades, or why that is not known. */
export type SidesOutcome = TradingSides | SnapshotError;

/** Any process that reads the pool at this block gets the same error. @throws the error of a chain that was not read */
export function ownFailure(error: unknown): SnapshotError {
  if (error instanceof SnapshotError && !(error.cause instanceof RpcFailure)) return error;
  throw error;
}

type WrittenLevel = readonly [bin: number, price: string, output: string, input: string, impact: string];
type WrittenSides =
  | { readonly code: SnapshotError['code']; readonly message: string }
  | { readonly bids: readonly WrittenLevel[] | null; readonly asks: readonly WrittenLevel[] | null };

export function writeSides(outcome: SidesOutcome): string {
  const written: WrittenSides =
    outcome instanceof SnapshotError
      ? { code: outcome.code, message: outcome.message }
      : { bids: writeLevels(outcome.bids), asks: writeLevels(outcome.asks) };
  return JSON.stringify(written);
}

/** @param written what `writeSides` wrote, parsed */
export function readSides(written: unknown): SidesOutcome {
  const sides = written as WrittenSides;
  if ('code' in sides) return new SnapshotError(sides.code, sides.message);
  return { bids: sides.bids?.map(readLevel) ?? null, asks: sides.asks?.map(readLevel) ?? null };
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
