import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import type { Frame } from './frame.ts';
import { type FrameOutcome, nextMerged, noFrames, pendingOverrides, sharedOverrides } from './frame-merger.ts';
import { MAX_AGE_MS } from './merge-model.fixture.ts';
import type { SharedOverrides } from './shared-overrides.ts';
import type { SourceName } from './source-parts.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** Keeps the frames of sources between calls. @param now gives milliseconds */
export class FrameMerger {
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  #state = noFrames;

  constructor(maxAgeMs: number, now: () => number) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  take(source: SourceName, frame: Frame, top?: bigint): FrameOutcome {
    const [state, outcome] = nextMerged(
      this.#state,
      { kind: 'frame', source, frame, top },
      this.#now(),
      this.#maxAgeMs,
    );
    this.#state = state;
    return outcome;
  }

  adopt(blocks: SharedOverrides<SourceName>): void {
    [this.#state] = nextMerged(this.#state, { kind: 'shared', blocks }, this.#now(), this.#maxAgeMs);
  }

  state(top?: bigint): PendingOverrides | undefined {
    const [state, overrides] = pendingOverrides(this.#state, top, this.#now(), this.#maxAgeMs);
    this.#state = state;
    return overrides;
  }

  shared(top?: bigint): SharedOverrides<SourceName> {
    return sharedOverrides(this.#state, top, this.#now(), this.#maxAgeMs);
  }
}

export const SOURCES = [{ id: 'a' }, { id: 'b' }, { id: 'c' }] as const;
export const [one, two] = SOURCES;
export const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
export const hexOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
/** Two venues. */
export const [A, B] = [addressOf(1), addressOf(2)];

/** Overrides of one account, by slot. */
export const overrides = (slots: Record<number, number>): StateOverrides =>
  new Map([[addressOf(9), new Map(Object.entries(slots).map(([slot, value]) => [hexOf(Number(slot)), hexOf(value)]))]]);

export const frame = (
  blockNumber: number,
  venues: Record<Address, StateOverrides>,
  more: Partial<Frame> = {},
): Frame => ({
  blockNumber: BigInt(blockNumber),
  timestamp: null,
  venues: new Map(Object.entries(venues) as [Address, StateOverrides][]),
  isComplete: false,
  ...more,
});

/** A merger on a clock that stands still. */
export function mergerOf() {
  const clock = { ms: 0 };
  return { clock, merger: new FrameMerger(MAX_AGE_MS, () => clock.ms) };
}
