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

type Queue<P> = Map<Address, Turn<P>>;

/**
 * Whose turn it is to be read. Pools of worth are due in every round, the richest first; the others one after the other, the
 * one that was read longest ago first. A pool that fails or burns gas pauses, longer each time, until a reading succeeds.
 * A pool that burns gas counts as one of the others, whatever its worth.
 *
 * Each class has a queue of its own: a round of few pools does not look at the many of strangers.
 */
export class PoolSchedule<P extends PoolWithWorth> {
  readonly #rules: Rules;
  readonly #now: Clock;
  /** In the order of their last turns, or first seen; what comes to the others from another class is behind them. */
  #queues = emptyQueues<P>();
  #wanted: ReadonlySet<Address> = new Set();

  constructor(rules: Rules, now: Clock) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Says which pools there are, as they are now. */
  setPools(pools: readonly P[]): void {
    const unseen = new Map(pools.map((pool) => [pool.address, pool]));
    const { worth, wanted, others } = this.#queues;
    this.#queues = emptyQueues();
    for (const queue of [others, wanted, worth]) {
      for (const [address, turn] of queue) {
        const pool = unseen.get(address);
        if (pool) this.#put({ ...turn, pool });
        unseen.delete(address);
      }
    }
    const now = this.#now();
    const isNew = { readAt: now, triedAt: null, dueAt: now, failures: 0, isBurning: false, gas: null };
    for (const pool of unseen.values()) this.#put({ ...isNew, pool });
    this.#sortWanted();
  }

  /** Says which pools clients asked for lately. */
  setWanted(pools: ReadonlySet<Address>): void {
    const before = this.#wanted;
    this.#wanted = pools;
    for (const address of [...before, ...pools]) {
      const turn = before.has(address) === pools.has(address) ? null : this.#take(address);
      if (turn) this.#put(turn);
    }
    this.#sortWanted();
  }

  /**
   * Pools of a class that are due and had no turn since a time, in the order of their turns.
   *
   * @param most of them
   */
  due(kind: ReadClass, since: number, most: number): P[] {
    const found: P[] = [];
    const now = this.#now();
    for (const turn of this.#queues[kind].values()) {
      if (found.length === most && kind !== 'worth') break;
      if (isDue(turn, since, now)) found.push(turn.pool);
    }
    return kind === 'worth' ? found.sort(byWorth).slice(0, most) : found;
  }

  /** Gas that the pool took last; null before it was read. */
  gasOf({ address }: P): number | null {
    return this.#queueOf(address)?.get(address)?.gas ?? null;
  }

  /** Tells how a reading went that ends now. */
  record({ address }: P, { gas, isFailed }: PoolOutcome): void {
    const turn = this.#take(address);
    if (!turn) return;
    const { pool } = turn;
    const now = this.#now();
    const isBurning = gas > this.#rules.burnGas;
    const mustPause = isBurning || (isFailed && !this.#hasWorth(pool));
    const failures = mustPause ? turn.failures + 1 : 0;
    const dueAt = now + this.#pauseMs(failures, isBurning);
    this.#put({ pool, readAt: now, triedAt: now, dueAt, failures, isBurning, gas });
  }

  /** Puts a pool behind all others, since the node did not answer the call that it was in. */
  postpone({ address }: P): void {
    const turn = this.#take(address);
    if (turn) this.#put({ ...turn, triedAt: this.#now() });
  }

  /** @param since begin of the round that was to read them */
  backlog(kind: ReadClass, since: number): Backlog {
    const now = this.#now();
    const queue = this.#queues[kind];
    let [waiting, backingOff, oldest] = [0, 0, Number.POSITIVE_INFINITY];
    for (const turn of queue.values()) {
      if (isDue(turn, since, now)) waiting += 1;
      if (turn.failures > 0) backingOff += 1;
      else oldest = Math.min(oldest, turn.readAt);
    }
    return { pools: queue.size, waiting, backingOff, ageMs: backingOff < queue.size ? now - oldest : null };
  }

  #queueOf(address: Address): Queue<P> | undefined {
    return Object.values(this.#queues).find((queue) => queue.has(address));
  }

  #take(address: Address): Turn<P> | undefined {
    const queue = this.#queueOf(address);
    const turn = queue?.get(address);
    queue?.delete(address);
    return turn;
  }

  #put(turn: Turn<P>): void {
    this.#queues[this.#classOf(turn)].set(turn.pool.address, turn);
  }

  /** They come from the others at any time, where they may have waited for long. */
  #sortWanted(): void {
    this.#queues.wanted = new Map([...this.#queues.wanted].sort(([, a], [, b]) => lastTurn(a) - lastTurn(b)));
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

const emptyQueues = <P>(): Record<ReadClass, Queue<P>> => ({ worth: new Map(), wanted: new Map(), others: new Map() });

const lastTurn = ({ triedAt, readAt }: Turn<unknown>): number => triedAt ?? readAt;

const isDue = ({ triedAt, dueAt }: Turn<unknown>, since: number, now: number): boolean =>
  dueAt <= now && (triedAt === null || triedAt < since);

const byWorth = (a: PoolWithWorth, b: PoolWithWorth): number =>
  b.worthUsd - a.worthUsd || (a.address < b.address ? -1 : 1);
