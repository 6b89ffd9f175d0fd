import { type Phase, type ReadCost, SHARED_CALL_GAS } from './read-cost.ts';
import type { Spend } from './tiered-budget.ts';

/** The calls of the reads of one block: reads share a call of each phase as long as its gas does for all of them. */
export class CallPacking {
  /** Gas left in the last call of each phase. */
  readonly #room = new Map<Phase, number>();
  /** Phases of pools that are packed: prices are read once, with depth and without. */
  readonly #packed = new Set<string>();

  /** What a read takes beyond the reads that were added. */
  extra(pool: string, cost: ReadCost): Spend {
    const shared = this.#missing(pool, cost);
    const begun = shared.filter(([phase, gas]) => gas > this.#roomOf(phase));
    const gas = shared.reduce((total, [, ofPhase]) => total + ofPhase, cost.own.gas);
    return { calls: cost.own.calls + begun.length, gas };
  }

  add(pool: string, cost: ReadCost): void {
    for (const [phase, gas] of this.#missing(pool, cost)) {
      const room = this.#roomOf(phase);
      this.#room.set(phase, (gas > room ? SHARED_CALL_GAS : room) - gas);
      this.#packed.add(pool + phase);
    }
  }

  #missing(pool: string, { shared }: ReadCost): [Phase, number][] {
    const phases = Object.entries(shared) as [Phase, number][];
    return phases.filter(([phase, gas]) => gas > 0 && !this.#packed.has(pool + phase));
  }

  #roomOf = (phase: Phase): number => this.#room.get(phase) ?? 0;
}
