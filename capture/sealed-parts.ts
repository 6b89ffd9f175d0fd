import type { ChainConfig } from '../config/chains-schema.ts';
import { partSource } from '../config/live-schema.ts';
import { Divergence, type DivergenceDeps } from '../quoting/parts/divergence.ts';
import type { ReadSharing } from '../quoting/sharing/read-sharing.ts';
import { SealedCounts } from './history/record-sealed.ts';

/** What processes of the API find of a chain's sealed blocks, which they compare with their parts. */
export interface SealedParts {
  /** Those that are not stored yet. */
  readonly counts: SealedCounts;
  /** Whether parts are left out. */
  readonly divergence: Divergence;
}

/** @returns undefined on a chain whose nodes follow no parts, and where no process shares what it finds */
export function followSealedParts(
  chain: ChainConfig,
  sharing: Pick<ReadSharing, 'followSealed'> | undefined,
  deps: DivergenceDeps,
): SealedParts | undefined {
  if (!partSource(chain.live) || !sharing) return undefined;
  const [counts, divergence] = [new SealedCounts(), new Divergence(deps)];
  sharing.followSealed(chain, (pools) => {
    counts.take(pools);
    divergence.take(pools);
  });
  return { counts, divergence };
}
