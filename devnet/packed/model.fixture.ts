import { MAX_POSITION } from '../../protocol/pool-state.ts';
import type { SwapAmounts } from '../actions.ts';
import { ceil, SideOfBin } from './model-prices.fixture.ts';
import type { PackedQuote } from './providers.ts';
import { initialAmounts, multipliers, type PackedRecipe } from './random-pool.fixture.ts';
import type { PackedBin, PackedState } from './storage.fixture.ts';
import type { FeeRule } from './variants.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Of one swap: scaled fees by where they went, and what the events should contain. */
export interface ModelSwap extends SwapAmounts {
  readonly bins: readonly {
    readonly bin: number;
    readonly delta0: bigint;
    readonly delta1: bigint;
    readonly lpFee: bigint;
    readonly platformFee: bigint;
  }[];
  readonly spreadFee: bigint;
  readonly notionalInInput: bigint;
  readonly notionalInOutput: bigint;
}

/** The fees that `deployPackedProtocol` gives every new pool. */
const PROTOCOL_SPREAD_E6 = 200_000n;
const PROTOCOL_NOTIONAL_E8 = 100n;
const E18 = 10n ** 18n;

/** A packed pool in TypeScript, written from the rules alone. It knows no refusals: tell it what the chain took. */
export class PackedModel {
  readonly state: Mutable<Omit<PackedState, 'bins'>> & { readonly bins: Map<number, Mutable<PackedBin>> };
  readonly #rule: FeeRule;
  readonly #recipe: PackedRecipe;

  constructor(rule: FeeRule, recipe: PackedRecipe, provider: string) {
    this.#rule = rule;
    this.#recipe = recipe;
    const bins = recipe.bins.map((bin): [number, Mutable<PackedBin>] => [
      bin.bin,
      {
        balance0: 0n,
        balance1: 0n,
        shares: 0n,
        lengthE6: BigInt(bin.lengthE6),
        addFeeBuyE6: BigInt(bin.addFeeBuyE6),
        addFeeSellE6: BigInt(bin.addFeeSellE6),
      },
    ]);
    this.state = {
      pauseLevel: 0n,
      bin: 0n,
      position: 0n,
      distanceE6: BigInt(recipe.curBinDistFromProvidedPriceE6),
      total0: 0n,
      total1: 0n,
      notional0: 0n,
      notional1: 0n,
      asymmetryX8: 0n,
      provider: BigInt(provider),
      spreadFeeE6: BigInt(recipe.adminSpreadFeeE6) + PROTOCOL_SPREAD_E6,
      notionalFeeE8: BigInt(recipe.adminNotionalFeeE8) + PROTOCOL_NOTIONAL_E8,
      bins: new Map(bins),
    };
    for (const { bin, shares } of recipe.bins) if (shares > 0n) this.add(bin, shares);
  }

  /** What a swap would do now. */
  trySwap(quote: PackedQuote, zeroForOne: boolean, amountSpecified: bigint): ModelSwap {
    const before = structuredClone(this.state);
    try {
      return this.swap(quote, zeroForOne, amountSpecified);
    } finally {
      Object.assign(this.state, before);
    }
  }

  add(index: number, shares: bigint): void {
    const bin = this.#bin(index);
    const { state } = this;
    const [initial0, initial1] = initialAmounts(this.#recipe);
    const below = index < state.bin ? MAX_POSITION : index > state.bin ? 0n : state.position;
    const first = bin.shares === 0n;
    const add0 = first
      ? ceil(ceil(shares * initial0, E18) * (MAX_POSITION - below), MAX_POSITION)
      : ceil(bin.balance0 * shares, bin.shares);
    const add1 = first
      ? ceil(ceil(shares * initial1, E18) * below, MAX_POSITION)
      : ceil(bin.balance1 * shares, bin.shares);
    bin.shares += shares;
    this.#move(index, add0, add1);
  }

  remove(index: number, shares: bigint): void {
    const bin = this.#bin(index);
    const [take0, take1] = [(bin.balance0 * shares) / bin.shares, (bin.balance1 * shares) / bin.shares];
    bin.shares -= shares;
    this.#move(index, -take0, -take1);
  }

  setFees(adminSpreadE6: number, adminNotionalE8: number): void {
    this.state.spreadFeeE6 = BigInt(adminSpreadE6) + PROTOCOL_SPREAD_E6;
    this.state.notionalFeeE8 = BigInt(adminNotionalE8) + PROTOCOL_NOTIONAL_E8;
  }

  setBinFees(index: number, buyE6: number, sellE6: number): void {
    const bin = this.#bin(index);
    [bin.addFeeBuyE6, bin.addFeeSellE6] = [BigInt(buyE6), BigInt(sellE6)];
  }

  collect(): void {
    [this.state.notional0, this.state.notional1] = [0n, 0n];
  }

  /** Price that the pool shows to a side. */
  price(quote: PackedQuote, zeroForOne: boolean): bigint {
    return this.#side(quote, zeroForOne).poolPrice(this.state.notionalFeeE8);
  }

  swap(quote: PackedQuote, zeroForOne: boolean, amountSpecified: bigint): ModelSwap {
    const { state } = this;
    const exactInput = amountSpecified > 0n;
    const [multiplier0, multiplier1] = multipliers(this.#recipe);
    const [unitIn, unitOut] = zeroForOne ? [multiplier0, multiplier1] : [multiplier1, multiplier0];
    let remaining = exactInput ? amountSpecified * unitIn : -amountSpecified * unitOut;
    const sum = { output: 0n, net: 0n, gross: 0n, spreadFee: 0n, notional: 0n };
    const bins: ModelSwap['bins'][number][] = [];
    for (let going = true; going && remaining > 0n; ) {
      const side = this.#side(quote, zeroForOne);
      if (side.available > 0n) {
        const fill = this.#fill(side, exactInput, remaining);
        remaining -= exactInput ? fill.gross : fill.output;
        const delta = fill.gross - fill.notional - fill.platformFee;
        const [delta0, delta1] = zeroForOne ? [delta, -fill.output] : [-fill.output, delta];
        this.#move(Number(state.bin), delta0, delta1);
        const { lpFee, platformFee } = fill;
        bins.push({ bin: Number(state.bin), delta0, delta1, lpFee, platformFee });
        state.position = fill.position;
        sum.output += fill.output;
        sum.net += fill.net;
        sum.gross += fill.gross;
        sum.spreadFee += fill.platformFee;
        sum.notional += fill.notional;
      }
      const bin = this.#bin(Number(state.bin));
      going = (zeroForOne ? bin.balance1 : bin.balance0) === 0n && this.#next(zeroForOne);
    }
    const late = this.#rule === 'older' ? ((exactInput ? sum.output : sum.net) * state.notionalFeeE8) / 10n ** 8n : 0n;
    const notionalInInput = sum.notional + (exactInput ? 0n : late);
    const notionalInOutput = exactInput ? late : 0n;
    state.notional0 += zeroForOne ? notionalInInput : notionalInOutput;
    state.notional1 += zeroForOne ? notionalInOutput : notionalInInput;
    const input = ceil(sum.gross + (exactInput ? 0n : late), unitIn);
    const output = (sum.output - notionalInOutput) / unitOut;
    const amounts = zeroForOne
      ? { amount0Delta: input, amount1Delta: -output }
      : { amount0Delta: -output, amount1Delta: input };
    return { ...amounts, bins, spreadFee: sum.spreadFee, notionalInInput, notionalInOutput };
  }

  #fill(side: SideOfBin, exactInput: boolean, remaining: bigint) {
    let output = !exactInput && remaining < side.available ? remaining : side.available;
    let { gross } = side.cost(output);
    if (exactInput && gross > remaining) {
      output = side.affordable(remaining);
      gross = remaining;
    }
    const { position, net } = side.cost(output);
    const share = (net * this.state.notionalFeeE8) / 10n ** 8n;
    const notional = this.#rule === 'older' ? 0n : share < gross - net ? share : gross - net;
    const spread = gross - net - notional;
    const platformFee = (spread * this.state.spreadFeeE6) / 1_000_000n;
    return { output, position, net, gross, notional, platformFee, lpFee: spread - platformFee };
  }

  /** Goes to the next bin of a side; false where the walk ends. */
  #next(zeroForOne: boolean): boolean {
    const { state } = this;
    state.position = zeroForOne ? 0n : MAX_POSITION;
    const next = Number(state.bin) + (zeroForOne ? -1 : 1);
    const there = state.bins.get(next);
    if (there === undefined) return false;
    state.distanceE6 += zeroForOne ? -there.lengthE6 : this.#bin(Number(state.bin)).lengthE6;
    state.bin = BigInt(next);
    state.position = zeroForOne ? MAX_POSITION : 0n;
    return true;
  }

  #side(quote: PackedQuote, zeroForOne: boolean): SideOfBin {
    const { bin, distanceE6, position, notionalFeeE8 } = this.state;
    const of = { zeroForOne, bin: this.#bin(Number(bin)), distanceE6, position, notionalFeeE8 };
    return new SideOfBin(this.#rule, quote, of);
  }

  #move(index: number, delta0: bigint, delta1: bigint): void {
    const bin = this.#bin(index);
    bin.balance0 += delta0;
    bin.balance1 += delta1;
    this.state.total0 += delta0;
    this.state.total1 += delta1;
  }

  #bin(index: number): Mutable<PackedBin> {
    const bin = this.state.bins.get(index);
    if (bin === undefined) throw new Error(`the pool has no bin ${index}`);
    return bin;
  }
}
