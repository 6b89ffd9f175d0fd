import type { DetailsShape } from './events.ts';
import type { FeeFormula } from './side-fees.ts';
import type { StorageArrangement } from './storage.ts';

/**
 * What is not publicly known of a factory's pools, as the readings that are possible. Each is held against the chain before
 * it counts; adding one here is all that it takes to try it.
 */
interface Sourced {
  readonly name: string;
  /** Where the reading comes from. */
  readonly source: string;
}

const LENS =
  'what the official lenses read of pools of factory 0xA327…; field order certain, offsets as Solidity packs';

export const STORAGE_ARRANGEMENTS = [
  {
    name: 'packedHead',
    source: LENS,
    head: {
      pauseLevel: { offset: 0, bits: 8 },
      curBin: { offset: 8, bits: 16, signed: true },
      posInBin: { offset: 24, bits: 104 },
      curBinDistE6: { offset: 128, bits: 24, signed: true },
      spreadFeeE6: { offset: 152, bits: 24 },
      notionalFeeE8: { offset: 176, bits: 24 },
      asymmetryX8: { offset: 200, bits: 16 },
    },
    bin: {
      token0Scaled: { offset: 0, bits: 104 },
      token1Scaled: { offset: 104, bits: 104 },
      lengthE6: { offset: 208, bits: 16 },
      addFeeBuyE6: { offset: 224, bits: 16 },
      addFeeSellE6: { offset: 240, bits: 16 },
    },
    binsSlot: 4n,
    binSharesSlot: 5n,
  },
] as const satisfies readonly (Sourced & StorageArrangement)[];

const FIELDS_OF_DETAILS = 'the type is named PackedSwapDetails; the fields are those of the flat event';

/** `details` of a `Swap`. */
export const DETAILS_READINGS = [
  {
    name: 'flagsFirst',
    source: `${FIELDS_OF_DETAILS}, flags in the lowest byte`,
    shape: {
      zeroForOne: { offset: 0, bits: 1 },
      exactInput: { offset: 1, bits: 1 },
      bin: { offset: 8, bits: 16, signed: true },
      position: { offset: 24, bits: 104 },
    },
  },
  {
    name: 'positionFirst',
    source: `${FIELDS_OF_DETAILS}, flags above position and bin`,
    shape: {
      zeroForOne: { offset: 120, bits: 1 },
      exactInput: { offset: 121, bits: 1 },
      bin: { offset: 104, bits: 16, signed: true },
      position: { offset: 0, bits: 104 },
    },
  },
] as const satisfies readonly (Sourced & { readonly shape: DetailsShape })[];

/** Unit of `BinSwapped.binDeltas`. */
export const DELTA_SCALES = [
  { name: 'scaled', source: 'likely by the ABI, and as in the flat event' },
  { name: 'raw', source: 'as `amountDeltas` of Swap, which are raw' },
] as const satisfies readonly Sourced[];

/** Halves of `BinSwapped.fees`. */
export const FEES_READINGS = [
  { name: 'token', source: 'as the halves of `binDeltas`: what stays with the bin, of token0 and of token1' },
  { name: 'kind', source: "the flat event's fee of the liquidity providers, and beside it the platform's" },
] as const satisfies readonly Sourced[];

/** Halves of `Swap.platformFees`. */
export const PLATFORM_FEES_READINGS = [
  { name: 'token', source: 'as the halves of `amountDeltas`: fees in token0 and in token1' },
  { name: 'kind', source: 'the two fees of the platform: part of the spread, and notional fee' },
] as const satisfies readonly Sourced[];

/** Token in which a swap pays the notional fee. */
export const NOTIONAL_READINGS = [
  { name: 'input', source: 'the newer rules: bins charge it with their own fees, in the token that comes in' },
  { name: 'unspecified', source: 'the flat layout: off the output of an exact input, on the input of an exact output' },
] as const satisfies readonly Sourced[];

const NEWER = 'public readers of the newer release put one combined fee on prices';

/** How base, bin and notional fee combine. */
export const FEE_FORMULAS = [
  {
    name: 'older',
    source: 'the formula of the flat layout, with which public readers of the first release agree',
    combine: 'sum',
    on: 'net',
    notional: 'atEnd',
  },
  { name: 'sumOnEdges', source: `${NEWER}: their sum, on both edges`, combine: 'sum', on: 'edges', notional: 'byBin' },
  {
    name: 'productOnEdges',
    source: `${NEWER}: their product, on both edges`,
    combine: 'product',
    on: 'edges',
    notional: 'byBin',
  },
  {
    name: 'sumOnPrice',
    source: `${NEWER}: their sum, on the interpolated price`,
    combine: 'sum',
    on: 'price',
    notional: 'byBin',
  },
  {
    name: 'productOnPrice',
    source: `${NEWER}: their product, on the interpolated price`,
    combine: 'product',
    on: 'price',
    notional: 'byBin',
  },
] as const satisfies readonly (Sourced & FeeFormula)[];
