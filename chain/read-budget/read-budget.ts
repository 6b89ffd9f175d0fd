import type { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import type { Clock } from '../circuit-breaker.ts';
import { Allowance } from './allowance.ts';

/**
 * Whom a read is for. `worth`: pools that hold priced tokens, and what concerns all pools of a chain; `wanted`: other pools
 * that clients asked for; `others`: all the rest, and every pool that burns gas.
 */
export const READ_CLASSES = ['worth', 'wanted', 'others'] as const;

export type ReadClass = (typeof READ_CLASSES)[number];

export interface ReadCost {
  readonly calls: number;
  readonly gas: number;
}

/** A call that was paid for. */
export interface PaidCall {
  /** Ends it: of the gas, what it did not take is given back. Without a number all of it counts. To be called once. */
  settle(gasUsed?: number): void;
}

type Parts = Pick<ReadBudgetConfig, 'callsPerMinute' | 'gasPerMinute' | 'wantedPct' | 'othersPct'>;

const MINUTE_MS = 60_000;

/**
 * Calls and gas that the scheduled reads of one chain may take per minute. Each class has its own part, so that none can take
 * from another.
 */
export class ReadBudget {
  readonly perMinute: ReadCost;
  readonly #shares: Readonly<Record<ReadClass, Share>>;

  constructor({ callsPerMinute, gasPerMinute, wantedPct, othersPct }: Parts, now: Clock = MONOTONIC) {
    this.perMinute = { calls: callsPerMinute, gas: gasPerMinute };
    const share = (pct: number) => new Share((callsPerMinute * pct) / 100, (gasPerMinute * pct) / 100, now);
    this.#shares = { worth: share(100 - wantedPct - othersPct), wanted: share(wantedPct), others: share(othersPct) };
  }

  /** Most gas that a call of this class can have now; 0 when there is no call left. */
  gasLeft(kind: ReadClass): number {
    return this.#shares[kind].gasLeft;
  }

  /** Most gas that a call of this class can ever have. */
  mostGas(kind: ReadClass): number {
    return this.#shares[kind].mostGas;
  }

  /** Pays for a call with this much gas. @returns null when less is left */
  pay(kind: ReadClass, gas: number): PaidCall | null {
    return this.#shares[kind].pay(gas);
  }

  /** What the calls of the last minute took. */
  spent(kind: ReadClass): ReadCost {
    return this.#shares[kind].spent();
  }
}

const MONOTONIC: Clock = () => performance.now();

class Share {
  readonly #calls: Allowance;
  readonly #gas: Allowance;
  readonly #now: Clock;
  #log: { readonly at: number; gas: number }[] = [];

  constructor(callsPerMinute: number, gasPerMinute: number, now: Clock) {
    this.#calls = new Allowance(callsPerMinute, now);
    this.#gas = new Allowance(gasPerMinute, now);
    this.#now = now;
  }

  get mostGas(): number {
    return this.#gas.most;
  }

  get gasLeft(): number {
    return this.#calls.left >= 1 ? this.#gas.left : 0;
  }

  pay(gas: number): PaidCall | null {
    if (this.#calls.left < 1 || this.#gas.left < gas) return null;
    this.#calls.take(1);
    this.#gas.take(gas);
    this.#forget();
    const entry = { at: this.#now(), gas };
    this.#log.push(entry);
    return {
      settle: (gasUsed = gas) => {
        entry.gas = Math.min(gas, gasUsed);
        this.#calls.settle(1, 1);
        this.#gas.settle(gas, entry.gas);
      },
    };
  }

  spent(): ReadCost {
    this.#forget();
    return { calls: this.#log.length, gas: this.#log.reduce((sum, { gas }) => sum + gas, 0) };
  }

  #forget(): void {
    const oldest = this.#now() - MINUTE_MS;
    this.#log = this.#log.filter(({ at }) => at > oldest);
  }
}
