import type { Clock } from '../../chain/circuit-breaker.ts';
import { Allowance } from '../../chain/read-budget/allowance.ts';
import { SAVED_PART, type WarmBudgetConfig } from '../../config/read-budget-schema.ts';

/** Who a pool is read for: clients with keys; anonymous clients, of funded pools; anonymous clients, of other pools. */
export const TIERS = ['keyed', 'funded', 'others'] as const;

export type Tier = (typeof TIERS)[number];

/** Calls and their gas. */
export interface Spend {
  readonly calls: number;
  readonly gas: number;
}

/** Parts of what can be saved up that each tier and those before it may use. */
const SAVED: Readonly<Record<Tier, number>> = { keyed: 1 / 2, funded: 3 / 4, others: 1 };
const MINUTE_SECS = 60;
const MONOTONIC: Clock = () => performance.now();

/**
 * Calls and gas per minute for pools that are read ahead. Each tier has a part of both, and what the tiers before it leave.
 *
 * Invariant: a tier can take as much as if there were no tier after it.
 */
export class TieredBudget {
  readonly perMinute: Spend;
  readonly #calls: TieredAllowance;
  readonly #gas: TieredAllowance;
  readonly #now: Clock;
  /** By second, of the last minute. */
  #log: (Spend & { readonly second: number })[] = [];

  constructor({ callsPerMinute, gasPerMinute, wantedPct }: WarmBudgetConfig, now: Clock = MONOTONIC) {
    this.perMinute = { calls: callsPerMinute, gas: gasPerMinute };
    this.#calls = new TieredAllowance(callsPerMinute, wantedPct, now);
    this.#gas = new TieredAllowance(gasPerMinute, wantedPct, now);
    this.#now = now;
  }

  /**
   * Takes all of an amount or nothing. What is beyond what the tier can save up counts as that.
   *
   * @returns whether it was taken
   */
  take(tier: Tier, { calls, gas }: Spend): boolean {
    const counted = { calls: Math.min(calls, this.#calls.most(tier)), gas: Math.min(gas, this.#gas.most(tier)) };
    if (this.#calls.left(tier) < counted.calls || this.#gas.left(tier) < counted.gas) return false;
    this.#calls.take(tier, counted.calls);
    this.#gas.take(tier, counted.gas);
    this.#note(counted);
    return true;
  }

  /** What was taken in the last minute. */
  spent(): Spend {
    this.#note({ calls: 0, gas: 0 });
    const sum = (unit: keyof Spend) => this.#log.reduce((total, entry) => total + entry[unit], 0);
    return { calls: sum('calls'), gas: sum('gas') };
  }

  #note({ calls, gas }: Spend): void {
    const second = Math.floor(this.#now() / 1_000);
    const last = this.#log.at(-1);
    const same = last?.second === second ? this.#log.pop() : undefined;
    this.#log.push({ second, calls: calls + (same?.calls ?? 0), gas: gas + (same?.gas ?? 0) });
    while ((this.#log[0]?.second ?? second) <= second - MINUTE_SECS) this.#log.shift();
  }
}

/** An allowance for each tier together with those before it: what a tier takes, all after it lose, and none before it. */
class TieredAllowance {
  readonly #upTo: readonly Allowance[];

  constructor(perMinute: number, wantedPct: number, now: Clock) {
    const saved = perMinute * SAVED_PART;
    const evenly = perMinute - saved;
    const parts: Readonly<Record<Tier, number>> = { keyed: 100 - wantedPct, funded: 100 - wantedPct / 2, others: 100 };
    this.#upTo = TIERS.map((tier) => {
      const most = saved * SAVED[tier];
      return new Allowance(most + (evenly * parts[tier]) / 100, now, most);
    });
  }

  /** What a tier can save up when those before it take nothing. */
  most(tier: Tier): number {
    return this.#beyond(tier, ({ most }) => most);
  }

  left(tier: Tier): number {
    return this.#beyond(tier, ({ left }) => left);
  }

  take(tier: Tier, amount: number): void {
    for (const allowance of this.#upTo.slice(TIERS.indexOf(tier))) {
      allowance.take(amount);
      allowance.settle(amount, amount);
    }
  }

  /** Of a tier, without what is for those before it. */
  #beyond(tier: Tier, of: (allowance: Allowance) => number): number {
    const index = TIERS.indexOf(tier);
    const [before, own] = [this.#upTo[index - 1], this.#upTo[index]];
    return (own ? of(own) : 0) - (before ? of(before) : 0);
  }
}
