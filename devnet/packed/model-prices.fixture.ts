import { E6, E8, Q64 } from '../../protocol/fixed-point.ts';
import { MAX_POSITION } from '../../protocol/pool-state.ts';
import type { PackedQuote } from './providers.ts';
import type { PackedBin } from './storage.fixture.ts';
import type { FeeRule } from './variants.ts';

export const ceil = (numerator: bigint, denominator: bigint) => (numerator + denominator - 1n) / denominator;

/** A side of one bin: what it costs to take from it by the rules as the contracts' comments tell them. */
export class SideOfBin {
  readonly available: bigint;
  readonly #rule: FeeRule;
  readonly #anchor: bigint;
  readonly #sale: boolean;
  readonly #lower: bigint;
  readonly #upper: bigint;
  readonly #position: bigint;
  readonly #factor: bigint;

  constructor(
    rule: FeeRule,
    quote: PackedQuote,
    side: {
      readonly zeroForOne: boolean;
      readonly bin: PackedBin;
      readonly distanceE6: bigint;
      readonly position: bigint;
      readonly notionalFeeE8: bigint;
    },
  ) {
    const { bin, distanceE6, zeroForOne } = side;
    this.#rule = rule;
    this.#anchor = quote.referenceX64;
    this.#sale = zeroForOne;
    this.#lower = (quote.referenceX64 * (E6 + distanceE6)) / E6;
    this.#upper = (quote.referenceX64 * (E6 + distanceE6 + bin.lengthE6)) / E6;
    this.#position = side.position;
    this.available = zeroForOne ? bin.balance1 : bin.balance0;
    const base = zeroForOne
      ? ceil(quote.referenceX64 * Q64, quote.bidX64) - Q64
      : ceil(quote.askX64 * Q64, quote.referenceX64) - Q64;
    const binFee = ((zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6) * Q64) / E6;
    this.#factor = factorOf(rule, base, binFee, (side.notionalFeeE8 * Q64) / E8);
  }

  /** Position after an output, and its cost before and with the bin's fees. */
  cost(output: bigint): { readonly position: bigint; readonly net: bigint; readonly gross: bigint } {
    const position = this.#after(output);
    const net = this.#trapezoid(output, position, (at) => this.#feeFreePrice(at));
    if (this.#rule === 'older') return { position, net, gross: net + ceil(net * (this.#factor - Q64), Q64) };
    if (this.#rule === 'quotient') return { position, net, gross: net + (net * (this.#factor - Q64)) / Q64 };
    return { position, net, gross: this.#trapezoid(output, position, (at) => this.shown(at)) };
  }

  /** Most output that costs no more than the input; less than all of it. */
  affordable(input: bigint): bigint {
    let [low, high] = [0n, this.available];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (this.cost(middle).gross <= input) low = middle;
      else high = middle;
    }
    return low;
  }

  /** What the pool shows at its cursor. */
  poolPrice(notionalFeeE8: bigint): bigint {
    if (this.#rule !== 'older') return this.shown(this.#position);
    const price = this.#interpolate(this.#lower, this.#upper, this.#position, false);
    if (this.#sale) return ((((price * Q64) / this.#factor) as bigint) * (E8 - notionalFeeE8)) / E8;
    return ceil(ceil(price * this.#factor, Q64) * E8, E8 - notionalFeeE8);
  }

  /** Price with fees at a position, for the rules that put fees on prices. */
  shown(at: bigint): bigint {
    if (this.#rule === 'sumOnEdges' || this.#rule === 'productOnEdges') {
      const [lower, upper] = [this.#withFee(this.#lower, this.#factor), this.#withFee(this.#upper, this.#factor)];
      return this.#interpolate(lower, upper, at, !this.#sale);
    }
    const price = this.#feeFreePrice(at);
    if (this.#rule !== 'growing') return this.#withFee(price, this.#factor);
    const distance = price > this.#anchor ? price - this.#anchor : this.#anchor - price;
    return this.#withFee(price, this.#factor + ceil(distance * (Q64 / 4n), this.#anchor));
  }

  #after(output: bigint): bigint {
    if (output === this.available) return this.#sale ? 0n : MAX_POSITION;
    const left = this.available - output;
    if (this.#sale) return ceil(this.#position * left, this.available);
    return this.#position + ((MAX_POSITION - this.#position) * output) / this.available;
  }

  #feeFreePrice(at: bigint): bigint {
    return this.#interpolate(this.#lower, this.#upper, at, !this.#sale);
  }

  #interpolate(lower: bigint, upper: bigint, at: bigint, up: boolean): bigint {
    const weighted = lower * (MAX_POSITION - at) + upper * at;
    return up ? ceil(weighted, MAX_POSITION) : weighted / MAX_POSITION;
  }

  #withFee(price: bigint, factor: bigint): bigint {
    return this.#sale ? (price * Q64) / factor : ceil(price * factor, Q64);
  }

  #trapezoid(output: bigint, end: bigint, priceAt: (position: bigint) => bigint): bigint {
    const paid = (at: bigint) => (this.#sale ? ceil(1n << 128n, priceAt(at)) : priceAt(at));
    const mean = (paid(this.#position) + paid(end) + 1n) / 2n;
    return ceil(output * mean, Q64);
  }
}

function factorOf(rule: FeeRule, base: bigint, bin: bigint, notional: bigint): bigint {
  switch (rule) {
    case 'older':
      return Q64 + base + bin;
    case 'quotient':
      return ((Q64 + base) * Q64) / (Q64 - bin - notional);
    case 'productOnEdges':
    case 'productOnPrice':
      return ceil(ceil((Q64 + base) * (Q64 + bin), Q64) * (Q64 + notional), Q64);
    default:
      return Q64 + base + bin + notional;
  }
}
