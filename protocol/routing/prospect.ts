import type { WalkLevel } from '../fill-walk.ts';
import type { TradeType } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';

/*
 * What is known of pools before they are read, to choose those that are worth a read. Amounts are floating-point numbers:
 * they rank pools and never reach a plan.
 */

/** One direction of a pool: what goes in and comes out up to some points from the cursor on, raw units, both increasing. */
export interface Outlook {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** A pool in the direction of an order. */
export interface Prospect<P extends GraphPool = GraphPool> {
  readonly pool: P;
  /** Null when nothing is known. */
  readonly outlook: Outlook | null;
  /** Whether the outlook is what a snapshot showed executable. Else it is claimed: by balances and prices on record. */
  readonly isSeen: boolean;
  /** 0 to 3, the best is highest. */
  readonly tierRank: number;
  /** What a read of the pool counts of a request's reads. */
  readonly cost: number;
}

/** What an amount leads to, as far as an outlook takes it. */
interface Yield {
  readonly taken: number;
  readonly found: number;
}

/** An outlook of few points: level 0, 1, 3, 7 and so on, and the last one. */
export function outlookOf(side: readonly WalkLevel[]): Outlook {
  const inputs: number[] = [];
  const outputs: number[] = [];
  for (let index = 0; index < side.length; index = index === side.length - 1 ? side.length : nextIndex(index, side)) {
    const { cumulativeInput, cumulativeOutput } = side[index] as WalkLevel;
    if (cumulativeInput <= 0n || cumulativeOutput <= 0n) continue;
    inputs.push(Number(cumulativeInput));
    outputs.push(Number(cumulativeOutput));
  }
  return { inputs, outputs };
}

const nextIndex = (index: number, { length }: readonly WalkLevel[]) => Math.min(2 * index + 1, length - 1);

/** Follows an amount of the fixed kind through outlooks, the near one first, each as far as it goes. */
export function follow(path: readonly (Outlook | null)[], tradeType: TradeType, given: number): Yield {
  let [taken, found] = [given, given];
  for (const outlook of path) {
    const leg = outlook ? followLeg(outlook, tradeType, found) : { taken: 0, found: 0 };
    taken = found > 0 ? taken * (leg.taken / found) : 0;
    found = leg.found;
  }
  return { taken, found };
}

function followLeg({ inputs, outputs }: Outlook, tradeType: TradeType, given: number): Yield {
  const [from, to] = tradeType === 'exact_in' ? [inputs, outputs] : [outputs, inputs];
  let [start, startFound] = [0, 0];
  for (let index = 0; index < from.length; index++) {
    const [end, endFound] = [from[index] as number, to[index] as number];
    if (given <= end) {
      const part = end > start ? (given - start) / (end - start) : 1;
      return { taken: given, found: startFound + (endFound - startFound) * part };
    }
    [start, startFound] = [end, endFound];
  }
  return { taken: start, found: startFound };
}

/** What a yield is worth to the trader, to be compared with others of one order: more is better, 0 is nothing. */
export function worthOf({ taken, found }: Yield, tradeType: TradeType): number {
  if (!(found > 0)) return 0;
  // An exact output is worth what it covers times its price, as an exact input is.
  return tradeType === 'exact_in' ? found : (taken * taken) / found;
}
