import type { ChainSnapshots, HeadContext, QuoteKind, SnapshotMap } from '../types.ts';
import type { WarmRead } from './warm-schedule.ts';

/** Reads parts of what is requested, each at its head. @returns by kind the outcomes of all parts */
export function readParts(
  snapshots: ChainSnapshots,
  parts: readonly { readonly reads: readonly WarmRead[]; readonly at: HeadContext }[],
  signal: AbortSignal,
): Readonly<Record<QuoteKind, Promise<SnapshotMap>>> {
  const readKind = async (kind: QuoteKind): Promise<SnapshotMap> => {
    const maps = parts.map(({ reads, at }): Promise<SnapshotMap> => {
      const pools = reads.filter((read) => read.kind === kind).map(({ pool }) => pool);
      return snapshots[kind](pools, { at, signal });
    });
    return new Map((await Promise.all(maps)).flatMap((map) => [...map]));
  };
  return { prices: readKind('prices'), depths: readKind('depths') };
}
