import { stateOf } from '../../chain/pending-state.ts';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import type { Clock } from '../../runtime/clock.ts';
import { pause } from '../../runtime/pause.ts';
import {
  awaitableMs,
  type BlockClaim,
  heldBefore,
  isOver,
  NO_READERS,
  nextReaders,
  type ReadersEffect,
  type ReadersEvent,
} from './block-readers.ts';
import type { BlockReads } from './block-reads.ts';

/** Claims of blocks by their state, which all processes see. */
export interface ClaimStore {
  /**
   * Takes a block that no process holds, for `CLAIM_MS`. Where it is over, resolves once what was published of it came.
   * Rejects while Redis does not answer.
   */
  take(state: string): Promise<'taken' | 'held' | 'over'>;
  /** Extends the claim of a block that this process took. */
  renew(state: string): Promise<void>;
  /** Notes, for processes that come later, that the block is read. */
  end(state: string): Promise<void>;
}

export interface BlockClaimsDeps {
  readonly claims: ClaimStore;
  /** Whether this process knows more of a block than others; undefined: as they do. Default: that. */
  readonly comesFirst?: ((block: BlockRef) => boolean | undefined) | undefined;
  /** Takes a failure of the store. Meanwhile this process reads the chain by itself. */
  readonly onFailure: (error: unknown) => void;
  readonly now: Clock;
}

/** Claims the blocks that this process reads for all: does at the right time what {@link nextReaders} says. */
export class BlockClaims {
  readonly #deps: BlockClaimsDeps;
  readonly #reads: Pick<BlockReads, 'has' | 'close'>;
  #state = NO_READERS;
  /** By state, resolve when it is decided who reads; until then each reads for itself. */
  readonly #decisions = new Map<string, Promise<void>>();

  /** @param reads what other processes published */
  constructor(deps: BlockClaimsDeps, reads: Pick<BlockReads, 'has' | 'close'>) {
    this.#deps = deps;
    this.#reads = reads;
  }

  of(block: BlockRef): BlockClaim | undefined {
    return this.#state.claims.get(stateOf(block));
  }

  /** Whether a tick has nothing to do about the last block. */
  get isIdle(): boolean {
    return isOver(this.#state, this.#deps.now());
  }

  /** As {@link heldBefore} says. */
  get heldBefore(): readonly BlockHeader[] {
    return heldBefore(this.#state, this.#deps.now());
  }

  /** As {@link awaitableMs} says. */
  awaitableMs(block: BlockRef): number {
    return awaitableMs(this.of(block), this.#deps.now());
  }

  /** Resolves when it is decided who reads a block. @param isAlone whether no other process has requests */
  async decide(block: BlockHeader, isAlone: boolean): Promise<void> {
    const state = stateOf(block);
    const comesFirst = this.#deps.comesFirst?.(block);
    const effect = this.#next({ kind: 'wanted', state, block, isAlone, comesFirst });
    if (effect)
      this.#decisions.set(
        state,
        this.#do(effect).finally(() => this.#decisions.delete(state)),
      );
    await this.#decisions.get(state);
  }

  /** Resolves when it is decided who reads a block, if that is being decided. */
  async decided(block: BlockRef): Promise<void> {
    await this.#decisions.get(stateOf(block));
  }

  /** Notes what happened. Resolves when all is done that follows from it. Never rejects. */
  take(event: Exclude<ReadersEvent, { kind: 'wanted' }>): Promise<void> {
    return this.#do(this.#next(event));
  }

  #next(event: ReadersEvent): ReadersEffect | null {
    const [state, effect] = nextReaders(this.#state, event, this.#deps.now());
    this.#state = state;
    return effect;
  }

  async #do(effect: ReadersEffect | null): Promise<void> {
    if (!effect) return;
    const { claims, onFailure } = this.#deps;
    const { kind, state } = effect;
    const askedAt = this.#deps.now();
    if (kind === 'wait') {
      await pause(effect.ms);
      await this.take({ kind: 'waited', state, isPublished: this.#reads.has(state) });
    } else if (kind === 'take') {
      const answer = (await claims.take(state).catch(onFailure)) ?? 'failed';
      if (answer === 'over') this.#reads.close(state);
      this.#next({ kind: 'answered', state, answer, askedAt });
    } else if (kind === 'renew') {
      await claims.renew(state).then(() => this.#next({ kind: 'renewed', state, askedAt }), onFailure);
    } else await claims.end(state).catch(onFailure);
  }
}
