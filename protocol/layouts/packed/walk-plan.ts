import type { Address } from 'viem';
import { CALLER } from '../../bounded-calls/bounded-calls.ts';
import type { SwapAmounts } from '../../curve.ts';
import { MAX_INT128, minBigint } from '../../fixed-point.ts';
import type { SideWalk, WalkPoint } from '../../simulated-walk/simulated-walk.ts';
import { encodeExtsload } from '../extsload.ts';
import type { PricedPool } from '../ladder.ts';
import { multipliers, type SideCurve } from '../side-curve.ts';
import { binSharesSlot, binSlot, HEAD_SLOTS } from '../storage.ts';
import { feeFreeSide } from './fee-free-side.ts';
import { packedSimulation, type SimulationForm } from './simulation.ts';

/** A pool at one block whose sides are to be simulated. */
export interface WalkedPool {
  readonly pool: Address;
  readonly priced: PricedPool;
  readonly form: SimulationForm;
  /** Whether simulated swaps may run unknown extensions, which take gas. */
  readonly isGuarded: boolean;
  /** Guards that are left out, where the node can do that. */
  readonly silenced: readonly Address[];
}

/** A side of a pool and the exact outputs at the far ends of its bins. */
export interface WalkedSide {
  readonly of: WalkedPool;
  readonly bare: SideCurve;
  /** Raw units, one for each step of the side; a bin that holds less than a unit repeats the one before. */
  readonly edges: readonly bigint[];
}

/** What the pool takes and gives, by the exact output at which a bin or the side ends, raw units. */
export type Pairs = ReadonlyMap<bigint, SwapAmounts>;

/** Gas after which a simulated swap counts as refused; guards may be untrusted contracts. */
const GAS_LIMITS = {
  free: { base: 400_000, perBin: 110_000, most: 40_000_000 },
  guarded: { base: 3_000_000, perBin: 130_000, most: 15_000_000 },
};
/** An exact input of this many times the input before fees empties a side: no pool charges so much. */
const MAX_CHARGED = 4n;
const WARMING = { base: 100_000, perSlot: 5_000 };

export function walkedSide(of: WalkedPool, zeroForOne: boolean): WalkedSide {
  const bare = feeFreeSide(of.priced, zeroForOne);
  const [, multiplierOut] = multipliers(bare);
  const edges = bare.steps.map(({ outputBefore, slice }) => (outputBefore + slice.available) / multiplierOut);
  return { of, bare, edges };
}

/** The most that the side gives, raw units. */
export const wholeOutput = ({ edges }: WalkedSide): bigint => edges.at(-1) ?? 0n;

/** An exact input that empties the side, raw units, as far as one swap can carry it. */
export function emptyingInput({ bare }: WalkedSide): bigint {
  const [multiplierIn] = multipliers(bare);
  const net = bare.levels.at(-1)?.cumulativeInput ?? 0n;
  return minBigint(MAX_CHARGED * net + 1n, MAX_INT128 / multiplierIn);
}

/** Plans the walk of a side by ever larger swaps, as {@link SideWalk} requires. */
export function planWalk(side: WalkedSide, amounts: readonly bigint[]): SideWalk {
  const { pool, priced, form, isGuarded } = side.of;
  const { zeroForOne } = side.bare;
  const order = { zeroForOne, amountSpecified: 0n, quote: priced.quote, trader: CALLER };
  const bins = side.bare.steps.map(({ slice }) => slice.bin);
  const slots = [...HEAD_SLOTS, ...bins.flatMap((bin) => slotsOf(bin, isGuarded))];
  return {
    pool,
    template: { data: packedSimulation.encode(form, order), amountOffset: packedSimulation.amountOffset(form) },
    warming: { data: encodeExtsload(slots), gas: WARMING.base + slots.length * WARMING.perSlot },
    points: amounts.map((amount): WalkPoint => ({ amount, gasLimit: gasLimitOf(side, amount) })),
  };
}

/** The slots that a swap reads for a bin; stop losses read its shares as well. */
const slotsOf = (bin: number, isGuarded: boolean) => (isGuarded ? [binSlot(bin), binSharesSlot(bin)] : [binSlot(bin)]);

function gasLimitOf(side: WalkedSide, amount: bigint): number {
  const { base, perBin, most } = side.of.isGuarded ? GAS_LIMITS.guarded : GAS_LIMITS.free;
  return Math.min(base + perBin * binsTouched(side, amount), most);
}

/** Number of bins that a swap is likely to touch; for an exact input, all of them. */
function binsTouched({ edges }: WalkedSide, amount: bigint): number {
  const index = amount < 0n ? edges.findIndex((edge) => edge >= -amount) : -1;
  return index < 0 ? edges.length : Math.min(index + 2, edges.length);
}
