import type { Address } from 'viem';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { nextDivergence, noDivergence } from './next-divergence.ts';

/** Pools of a sealed block, compared with what they were after its last part. */
export interface SealedPools {
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly same: readonly Address[];
  readonly different: readonly Address[];
}

export interface DivergenceDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
}

/** Whether the parts of a chain are left out, as {@link nextDivergence} says by what processes compare. */
export class Divergence {
  readonly #deps: DivergenceDeps;
  #state = noDivergence;

  constructor(deps: DivergenceDeps) {
    this.#deps = deps;
  }

  /** Whether too many pools were other ones in sealed blocks: quotes at parts may be wrong. */
  get isDivergent(): boolean {
    return this.#state.isDivergent;
  }

  /** Takes what this or another process compared. */
  take({ blockNumber, same, different }: SealedPools): void {
    const { logger, now } = this.#deps;
    const compared = same.length + different.length;
    const before = this.#state;
    this.#state = nextDivergence(before, { blockNumber, compared, different }, now());
    const { isDivergent } = this.#state;
    if (isDivergent === before.isDivergent) return;
    if (isDivergent)
      logger.warn({ blockNumber, different }, 'sealed blocks differ from their parts: prices are committed');
    else logger.info({ blockNumber }, 'sealed blocks are as their parts again: prices are live');
  }
}
