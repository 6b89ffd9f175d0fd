import type { Frame } from './frame.ts';
import { type FrameOutcome, nextMerged, noFrames, pendingOverrides, sharedOverrides } from './frame-merger.ts';
import type { SharedOverrides } from './shared-overrides.ts';
import type { SourceName } from './source-parts.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** Keeps the frames of sources between calls. @param now gives milliseconds */
export class FrameMerger {
  #state = noFrames;

  constructor(
    private readonly maxAgeMs: number,
    private readonly now: () => number,
  ) {}

  take(source: SourceName, frame: Frame, top?: bigint): FrameOutcome {
    const [state, outcome] = nextMerged(this.#state, { kind: 'frame', source, frame, top }, this.now(), this.maxAgeMs);
    this.#state = state;
    return outcome;
  }

  adopt(blocks: SharedOverrides<SourceName>): void {
    [this.#state] = nextMerged(this.#state, { kind: 'shared', blocks }, this.now(), this.maxAgeMs);
  }

  state(top?: bigint): PendingOverrides | undefined {
    const [state, overrides] = pendingOverrides(this.#state, top, this.now(), this.maxAgeMs);
    this.#state = state;
    return overrides;
  }

  shared(top?: bigint): SharedOverrides<SourceName> {
    return sharedOverrides(this.#state, top, this.now(), this.maxAgeMs);
  }
}
