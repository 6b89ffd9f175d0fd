import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { type RequestedPool, warmKey } from './requested-pools.ts';

/** Which requested pools were read, and when. Does no I/O. All times are of one clock, milliseconds. */
export class WarmProgress {
  /** Reads that succeeded at the last state. */
  #done: { readonly state: string; readonly keys: Set<string> } = { state: '', keys: new Set() };
  /** When and at which block each requested read last succeeded. */
  readonly #lastReads = new Map<string, { readonly at: number; readonly block: BlockRef }>();
  readonly #keepMs: number;

  /** @param keepMs for how long after its last read a pool need not be read at a newer state */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** Whether reads are at a state, rather than at none. */
  get isAtState(): boolean {
    return this.#done.state !== '';
  }

  /** Begins reads at a state; '' while there is none. @returns whether it is another one than before */
  begin(state: string): boolean {
    const isNew = this.#done.state !== state;
    if (isNew) this.#done = { state, keys: new Set() };
    return isNew;
  }

  isDone(read: RequestedPool): boolean {
    return this.#done.keys.has(warmKey(read));
  }

  /** Notes that a read succeeded at this block. */
  note(read: RequestedPool, block: BlockRef, at: number): void {
    this.#lastReads.set(warmKey(read), { at, block });
  }

  /** Notes that a read is not to be made again at this block, if it is still the one that is read at. */
  markDone(read: RequestedPool, block: BlockRef): void {
    if (this.#done.state === stateOf(block)) this.#done.keys.add(warmKey(read));
  }

  /**
   * Whether the last read of a pool is used at a newer state: while it is young, and if it was live, on the same block and
   * as long as any price is live there.
   *
   * @param isSuperseded whether the next state is read soon, so that this one decides nothing
   */
  isKept(read: RequestedPool, { hash, pending }: BlockRef, now: number, isSuperseded: boolean): boolean {
    const last = this.#lastReads.get(warmKey(read));
    if (!last || now - last.at >= this.#keepMs) return false;
    return isSuperseded || !last.block.pending || (last.block.hash === hash && pending !== undefined);
  }

  /** Forgets the last reads of pools that are not requested any more. */
  keepOnly(requested: readonly RequestedPool[]): void {
    const keys = new Set(requested.map(warmKey));
    for (const key of this.#lastReads.keys()) if (!keys.has(key)) this.#lastReads.delete(key);
  }

  clear(): void {
    this.begin('');
    this.#lastReads.clear();
  }
}
