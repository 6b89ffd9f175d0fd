import type { WalkLevel } from '../../../protocol/fill-walk.ts';

/** Steps per bin: how finely the place where a guard stops a side is told. */
const STEPS_PER_BIN = 1_000_000;

/** How much of a side trades. `levels` counts whole levels; `partialInput` is what the next one takes, raw units. */
export type Executable =
  | { readonly kind: 'whole' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'cut'; readonly levels: number; readonly partialInput: bigint | null };

/** An amount to simulate, raw units of input, and how many bins it walks through: its cost grows with them. */
export interface Question {
  readonly amount: bigint;
  readonly bins: number;
}

/** A place on a side: whole bins and a millionth part, counted over the bins that trade. */
type Step = number;

/**
 * Finds how far a guard lets a side trade, by asking about many amounts at a time. It relies on one thing: when an
 * amount trades, so does every smaller one.
 *
 * The first round asks about the smallest and the whole amount; each later one cuts the doubt into as many parts as it
 * asks about amounts, first over bins and then inside one.
 */
export class SideSearch {
  readonly #bins: readonly TradingBin[];
  /** Trades at `#low`, does not at `#high`; the side is `#bins.length * STEPS_PER_BIN` steps long. */
  #low: Step = 0;
  #high: Step;
  #asked: Step[] = [];
  #started = false;

  constructor(levels: readonly WalkLevel[]) {
    this.#bins = tradingBins(levels);
    this.#high = this.#bins.length * STEPS_PER_BIN + 1;
  }

  get done(): boolean {
    return this.#started && (this.#high - this.#low <= 1 || this.#gapIsOneUnit());
  }

  /** Bins that one amount of the next round walks through, on average. */
  get binsPerAmount(): number {
    return this.#started ? binsOf((this.#low + this.#high) / 2) : (1 + this.#bins.length) / 2;
  }

  /** The next amounts to ask about, ascending; at most `count`, which is at least 2. */
  next(count: number): Question[] {
    this.#asked = this.#started ? this.#spread(count) : this.#ends();
    this.#started = true;
    return this.#asked.map((step) => ({ amount: this.#amountAt(step), bins: binsOf(step) }));
  }

  /** Takes the answers to the amounts of `next`, in order: whether each trades. */
  report(trades: readonly boolean[]): void {
    for (const [index, step] of this.#asked.entries()) {
      if (trades[index]) this.#low = Math.max(this.#low, step);
      else this.#high = Math.min(this.#high, step);
    }
    // A guard that refuses less than it lets pass contradicts itself: the smaller amount counts.
    if (this.#low >= this.#high) this.#low = this.#high - 1;
  }

  result(): Executable {
    const end = this.#bins.length * STEPS_PER_BIN;
    if (this.#high > end) return { kind: 'whole' };
    if (this.#low <= 0) return { kind: 'closed' };
    const bin = this.#bins[Math.floor(this.#low / STEPS_PER_BIN)];
    const isEdge = this.#low % STEPS_PER_BIN === 0;
    return { kind: 'cut', levels: bin?.level ?? 0, partialInput: isEdge ? null : this.#amountAt(this.#low) };
  }

  #ends(): Step[] {
    const end = this.#bins.length * STEPS_PER_BIN;
    // A side without liquidity is asked about one unit: a guard may refuse that too.
    return end === 0 ? [0] : [1, end];
  }

  #spread(count: number): Step[] {
    const width = this.#high - this.#low;
    const steps = Array.from({ length: count }, (_, i) => this.#low + Math.round((width * (i + 1)) / (count + 1)));
    return distinct(steps.filter((step) => step > this.#low && step < this.#high));
  }

  /** At an edge one unit less than the level's input, so that rounding never touches the next bin. */
  #amountAt(step: Step): bigint {
    const index = Math.floor(step / STEPS_PER_BIN);
    const part = step % STEPS_PER_BIN;
    const before = this.#bins[index - 1]?.inputAfter ?? 0n;
    const bin = this.#bins[index];
    if (part === 0 || !bin) return atLeastOne(before - 1n);
    return atLeastOne(before + ((bin.inputAfter - before) * BigInt(part)) / BigInt(STEPS_PER_BIN));
  }

  #gapIsOneUnit(): boolean {
    const isInside = Math.floor(this.#low / STEPS_PER_BIN) === Math.floor((this.#high - 1) / STEPS_PER_BIN);
    return isInside && this.#amountAt(this.#high) - this.#amountAt(this.#low) <= 1n;
  }
}

interface TradingBin {
  /** Index among all levels of the side. */
  readonly level: number;
  /** Cumulative input through the bin, raw units. */
  readonly inputAfter: bigint;
}

function tradingBins(levels: readonly WalkLevel[]): TradingBin[] {
  const bins: TradingBin[] = [];
  let before = 0n;
  for (const [level, { cumulativeInput }] of levels.entries()) {
    if (cumulativeInput > before) bins.push({ level, inputAfter: cumulativeInput });
    before = cumulativeInput;
  }
  return bins;
}

const atLeastOne = (amount: bigint): bigint => (amount < 1n ? 1n : amount);
const binsOf = (step: Step): number => Math.max(1, Math.ceil(step / STEPS_PER_BIN));
const distinct = (steps: readonly Step[]): Step[] => [...new Set(steps)];
