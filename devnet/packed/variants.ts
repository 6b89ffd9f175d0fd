/** How base, bin and notional fee make a price: what each rule does is at `FeeRule` of the contracts, in this order. */
export const FEE_RULES = [
  'older',
  'sumOnEdges',
  'productOnEdges',
  'sumOnPrice',
  'productOnPrice',
  'quotient',
  'growing',
  'offOutput',
] as const;

export type FeeRule = (typeof FEE_RULES)[number];

/** What one factory's pools do that those of another may do otherwise. */
export interface PackedVariant {
  readonly rule: FeeRule;
  /** Whether `simulateSwapAndRevert` takes a leading sender. */
  readonly simulation: 'sender' | 'noSender';
  /** Halves of `BinSwapped.fees`: tokens, or what the providers and the platform get. */
  readonly fees: 'token' | 'kind';
  /** Halves of `Swap.platformFees`: tokens, or spread part and notional fee. */
  readonly platformFees: 'token' | 'kind';
  /**
   * From the lowest bit: direction, exact input, 6 empty bits, bin, position; or position, bin, direction, exact input.
   */
  readonly details: 'flagsFirst' | 'positionFirst';
  /** Unit of `BinSwapped.binDeltas`; raw ones are rounded towards zero. Fees are scaled in both. */
  readonly deltaScale: 'scaled' | 'raw';
  /** What a swap does whose input or output rounds to zero raw units. */
  readonly zeroAmounts: 'fill' | 'revert';
}

/** In the order of the fields of {@link PackedVariant}. */
type Row = readonly [
  FeeRule,
  PackedVariant['simulation'],
  PackedVariant['fees'],
  PackedVariant['platformFees'],
  PackedVariant['details'],
  PackedVariant['deltaScale'],
  PackedVariant['zeroAmounts'],
];

const ROWS: readonly Row[] = [
  ['older', 'noSender', 'token', 'token', 'flagsFirst', 'scaled', 'fill'],
  ['sumOnEdges', 'sender', 'kind', 'token', 'positionFirst', 'scaled', 'revert'],
  ['productOnEdges', 'sender', 'token', 'kind', 'flagsFirst', 'raw', 'revert'],
  ['sumOnPrice', 'noSender', 'kind', 'kind', 'flagsFirst', 'scaled', 'fill'],
  ['productOnPrice', 'noSender', 'token', 'kind', 'positionFirst', 'scaled', 'fill'],
  ['quotient', 'sender', 'kind', 'token', 'flagsFirst', 'raw', 'fill'],
  ['growing', 'noSender', 'token', 'token', 'positionFirst', 'raw', 'revert'],
];

/** One variant for each rule but `offOutput`. Between any two settings of two values, every pair of values occurs. */
export const PACKED_VARIANTS: readonly PackedVariant[] = ROWS.map(variant);

/** A rule of which readers can only know points: what leaves the bins is not what traders get. */
const OFF_OUTPUT = variant(['offOutput', 'sender', 'kind', 'kind', 'flagsFirst', 'scaled', 'fill']);

/** The variant of a rule. */
export function packedVariant(rule: FeeRule): PackedVariant {
  const found = [...PACKED_VARIANTS, OFF_OUTPUT].find((each) => each.rule === rule);
  if (found === undefined) throw new Error(`no variant of the rule ${rule}`);
  return found;
}

function variant([rule, simulation, fees, platformFees, details, deltaScale, zeroAmounts]: Row): PackedVariant {
  return { rule, simulation, fees, platformFees, details, deltaScale, zeroAmounts };
}
