import type { Address } from 'viem';
import type { PaidCall, ReadBudget, ReadClass } from '../../chain/read-budget/read-budget.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { type ReadCost, readCost, SHARED_CALL_GAS } from './read-cost.ts';

/** A pool that is to be read at a block. */
export interface WantedRead {
  readonly pool: ServedPool;
  readonly withDepth: boolean;
  readonly byKey: boolean;
}

export interface PaidReadsDeps {
  readonly budget: ReadBudget;
  readonly hasWorth: (pool: ServedPool) => boolean;
  /** Whether its curve takes a simulation of every level, as far as is known. */
  readonly isSimulated: (pool: ServedPool) => boolean;
}

interface Costed extends WantedRead {
  readonly cost: ReadCost;
}

/**
 * Decides which reads of a block the budget pays for: pools of worth and those that a key wants by one part of it, the others
 * by the other part; within a part the one that was paid for longest ago comes first.
 */
export class PaidReads {
  readonly #deps: PaidReadsDeps;
  /** By pool, the turn in which it was paid for last. */
  #paidAt = new Map<Address, number>();
  #turn = 0;

  constructor(deps: PaidReadsDeps) {
    this.#deps = deps;
  }

  /** Pays. @returns the pools that may be read now */
  pay(reads: readonly WantedRead[]): Set<Address> {
    this.#turn += 1;
    const byClass: Record<'worth' | 'wanted', WantedRead[]> = { worth: [], wanted: [] };
    for (const read of reads) byClass[read.byKey || this.#deps.hasWorth(read.pool) ? 'worth' : 'wanted'].push(read);
    const paid = [...this.#payClass('worth', byClass.worth), ...this.#payClass('wanted', byClass.wanted)];
    const before = this.#paidAt;
    this.#paidAt = new Map(reads.map(({ pool: { address } }) => [address, before.get(address) ?? 0]));
    for (const address of paid) this.#paidAt.set(address, this.#turn);
    return new Set(paid);
  }

  #payClass(kind: ReadClass, reads: readonly WantedRead[]): Address[] {
    const { budget, isSimulated } = this.#deps;
    const last = ({ pool }: WantedRead) => this.#paidAt.get(pool.address) ?? 0;
    const queue = [...reads]
      .sort((a, b) => last(a) - last(b))
      .map((read): Costed => ({ ...read, cost: readCost(read.pool, read.withDepth, isSimulated(read.pool)) }));
    const paid: Address[] = [];
    for (let next = 0; next < queue.length; ) {
      const bundle = takeBundle(queue, next, budget.gasLeft(kind));
      if (bundle.length === 0 || !payCalls(budget, kind, bundle)) break;
      paid.push(...bundle.map(({ pool }) => pool.address));
      next += bundle.length;
    }
    return paid;
  }
}

/** As many of the next reads as share one call of each kind and as the gas pays for. */
function takeBundle(queue: readonly Costed[], start: number, gasLeft: number): Costed[] {
  const bundle: Costed[] = [];
  const shared = [0, 0, 0];
  let total = 0;
  for (const read of queue.slice(start)) {
    const { shared: parts, own } = read.cost;
    total += [...parts, ...own].reduce((sum, gas) => sum + gas, 0);
    const isFull = parts.some((gas, call) => (shared[call] ?? 0) + gas > SHARED_CALL_GAS);
    if (total > gasLeft || (isFull && bundle.length > 0)) break;
    for (const [call, gas] of parts.entries()) shared[call] = (shared[call] ?? 0) + gas;
    bundle.push(read);
  }
  return bundle;
}

/** Gas of each call of a bundle. */
function callsOf(bundle: readonly Costed[]): number[] {
  const shared = [0, 1, 2].map((call) => bundle.reduce((sum, { cost }) => sum + (cost.shared[call] ?? 0), 0));
  return [...shared.filter((gas) => gas > 0), ...bundle.flatMap(({ cost }) => cost.own)];
}

/** Calls are paid as if they took all the gas that they were packed by: reads do not tell what they took. */
function payCalls(budget: ReadBudget, kind: ReadClass, bundle: readonly Costed[]): boolean {
  const calls = callsOf(bundle);
  const paid: PaidCall[] = [];
  for (const gas of calls) {
    const call = budget.pay(kind, gas);
    if (!call) break;
    paid.push(call);
  }
  const isPaid = paid.length === calls.length;
  for (const call of paid) call.settle(isPaid ? undefined : 0);
  return isPaid;
}
