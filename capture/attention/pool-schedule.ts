import type { Address } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ReadClass } from '../../chain/read-budget/read-budget.ts';
import type { ReadBudgetConfig } from '../../config/read-budget-schema.ts';

/** A pool whose turn comes by what it holds. */
export interface PoolWithWorth {
  readonly address: Address;
  /** Of what it holds in priced tokens. */
  readonly worthUsd: number;
}

/** What reading a pool took, and whether it told nothing. */
export interface PoolOutcome {
  readonly gas: number;
  readonly isFailed: boolean;
}

/** How a class of pools is served. */
export interface Backlog {
  readonly pools: number;
  /** Pools whose turn it is and that were not read. */
  readonly waiting: number;
  /** Pools that wait since they failed or burned gas. */
  readonly backingOff: number;
  /** Since the oldest reading of a pool that does not back off; null without one. */
  readonly ageMs: number | null;
}

type Rules = Pick<
  ReadBudgetConfig,
  'minWorthUsd' | 'burnGas' | 'firstPauseSecs' | 'failedPauseSecs' | 'burnedPauseSecs'
>;

interface Turn<P> {
  readonly pool: P;
  /** When it was read last; when it was first seen, before that. */
  readonly readAt: number;
  /** When it had its turn last; null before that. */
  readonly triedAt: number | null;
  readonly dueAt: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly isBurning: boolean;
  /** Gas of the last reading. */
  readonly gas: number | null;
}

/**
 * Whose turn it is to be read. Pools of worth are due in every round, the richest first; the others one after the other, the
 * one that was read longest ago first. A pool that fails or burns gas pauses, longer each time, until a reading succeeds.
 * A pool that burns gas counts as one of the others, whatever its worth.
 */
export class PoolSchedule<P extends PoolWithWorth> {
  readonly #rules: Rules;
  readonly #now: Clock;
  /** In the order in which they were read, or first seen. */
  readonly #turns = new Map<Address, Turn<P>>();
  #wanted: ReadonlySet<Address> = new Set();

  constructor(rules: Rules, now: Clock) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Says which pools there are, as they are now. */
  setPools(pools: readonly P[]): void {
    const current = new Set(pools.map(({ address }) => address));
    for (const address of this.#turns.keys()) if (!current.has(address)) this.#turns.delete(address);
    const now = this.#now();
    const isNew = { readAt: now, triedAt: null, dueAt: now, failures: 0, isBurning: false, gas: null };
    for (const pool of pools) {
      this.#turns.set(pool.address, { ...(this.#turns.get(pool.address) ?? isNew), pool });
    }
  }

  /** Says which pools clients asked for lately. */
  setWanted(pools: ReadonlySet<Address>): void {
    this.#wanted = pools;
  }

  /**
   * Pools of a class that are due and had no turn since a time, in the order of their turns.
   *
   * @param most of them
   */
  due(kind: ReadClass, since: number, most: number): P[] {
    const found: P[] = [];
    const now = this.#now();
    for (const turn of this.#turns.values()) {
      if (found.length === most && kind !== 'worth') break;
      if (this.#classOf(turn) === kind && isDue(turn, since, now)) found.push(turn.pool);
    }
    return kind === 'worth' ? found.sort(byWorth).slice(0, most) : found;
  }

  /** Gas that the pool took last; null before it was read. */
  gasOf({ address }: P): number | null {
    return this.#turns.get(address)?.gas ?? null;
  }

  /** Tells how a reading went that ends now. */
  record({ address }: P, { gas, isFailed }: PoolOutcome): void {
    const turn = this.#turns.get(address);
    if (!turn) return;
    const now = this.#now();
    const isBurning = gas > this.#rules.burnGas;
    const mustPause = isBurning || (isFailed && !this.#hasWorth(turn.pool));
    const failures = mustPause ? turn.failures + 1 : 0;
    const dueAt = now + this.#pauseMs(failures, isBurning);
    this.#turns.delete(address);
    this.#turns.set(address, { pool: turn.pool, readAt: now, triedAt: now, dueAt, failures, isBurning, gas });
  }

  /** Puts a pool behind all others, since the node did not answer the call that it was in. */
  postpone({ address }: P): void {
    const turn = this.#turns.get(address);
    if (!turn) return;
    this.#turns.delete(address);
    this.#turns.set(address, { ...turn, triedAt: this.#now() });
  }

  /** @param since begin of the round that was to read them */
  backlog(since: number): Readonly<Record<ReadClass, Backlog>> {
    const now = this.#now();
    const byClass: Record<ReadClass, Turn<P>[]> = { worth: [], wanted: [], others: [] };
    for (const turn of this.#turns.values()) byClass[this.#classOf(turn)].push(turn);
    const of = (kind: ReadClass): Backlog => {
      const turns = byClass[kind];
      const calm = turns.filter(({ failures }) => failures === 0);
      const oldest = calm.reduce((least, { readAt }) => Math.min(least, readAt), Number.POSITIVE_INFINITY);
      return {
        pools: turns.length,
        waiting: turns.filter((turn) => isDue(turn, since, now)).length,
        backingOff: turns.length - calm.length,
        ageMs: calm.length > 0 ? now - oldest : null,
      };
    };
    return { worth: of('worth'), wanted: of('wanted'), others: of('others') };
  }

  #classOf({ pool, isBurning }: Turn<P>): ReadClass {
    if (isBurning) return 'others';
    return this.#hasWorth(pool) ? 'worth' : this.#wanted.has(pool.address) ? 'wanted' : 'others';
  }

  #hasWorth({ worthUsd }: P): boolean {
    return worthUsd >= this.#rules.minWorthUsd;
  }

  #pauseMs(failures: number, isBurning: boolean): number {
    if (failures === 0) return 0;
    const { firstPauseSecs, failedPauseSecs, burnedPauseSecs } = this.#rules;
    const longest = isBurning ? burnedPauseSecs : failedPauseSecs;
    return 1_000 * Math.min(firstPauseSecs * 2 ** (failures - 1), longest);
  }
}

const isDue = ({ triedAt, dueAt }: Turn<unknown>, since: number, now: number): boolean =>
  dueAt <= now && (triedAt === null || triedAt < since);

const byWorth = (a: PoolWithWorth, b: PoolWithWorth): number =>
  b.worthUsd - a.worthUsd || (a.address < b.address ? -1 : 1);
