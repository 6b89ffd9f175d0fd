import type { Address } from 'viem';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { nextDivergence, noDivergence } from './next-divergence.ts';

/** Pools of a sealed block, compared with what they were after its last part. */
export interface SealedPools {
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Host of the node that showed the part; absent where that is not known. */
  readonly node?: string | undefined;
  readonly same: readonly Address[];
  readonly different: readonly Address[];
}

export interface DivergenceDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
}

/** Whether parts of a chain's nodes are left out: {@link nextDivergence} says it of each by what processes compare. */
export class Divergence {
  readonly #deps: DivergenceDeps;
  readonly #nodes = new Map<string | undefined, typeof noDivergence>();

  constructor(deps: DivergenceDeps) {
    this.#deps = deps;
  }

  /** Whether too many pools were other ones in sealed blocks than after the parts of this node: these may be wrong. */
  isDivergent(node: string | undefined): boolean {
    return this.#nodes.get(node)?.isDivergent === true;
  }

  /** Takes what this or another process compared. */
  take({ blockNumber, node, same, different }: SealedPools): void {
    const { logger, now } = this.#deps;
    const compared = same.length + different.length;
    const before = this.#nodes.get(node) ?? noDivergence;
    const after = nextDivergence(before, { blockNumber, compared, different }, now());
    this.#nodes.set(node, after);
    const { isDivergent } = after;
    if (isDivergent === before.isDivergent) return;
    if (isDivergent)
      logger.warn({ node, blockNumber, different }, 'sealed blocks differ from the parts of a node: it is asked last');
    else logger.info({ node, blockNumber }, 'sealed blocks are as the parts of a node again');
  }
}
