import type { SealedFees } from './next-lag.ts';
import { nextPart, noPart, type PartOutcome, type PartShown, withFees } from './next-part.ts';

/** What calls showed of a chain's parts: all readers of a process that follow none judge by it. */
export class SeenParts {
  #state = noPart;

  /** Judges as {@link nextPart} does. @param now milliseconds of a clock that never goes back */
  judge(shown: PartShown, now: number): PartOutcome {
    const [state, outcome] = nextPart(this.#state, shown, now);
    this.#state = state;
    return outcome;
  }

  /** Notes what the accounts of fees hold in a sealed block. */
  noteFees(fees: SealedFees): void {
    this.#state = withFees(this.#state, fees);
  }
}
