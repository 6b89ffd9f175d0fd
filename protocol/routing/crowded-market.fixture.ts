import fc from 'fast-check';
import type { Address } from 'viem';
import type { DepthLevel } from '../depth.ts';
import { MIDDLE, pricedSide, type Scale, scale, type TestPool, TOKEN_IN, TOKEN_OUT } from './market.fixture.ts';
import { type DepthEstimate, estimateDepth } from './pool-candidate.ts';

/** Markets with many pools of a pair, most of them hostile, and what is known of them before they are read. */

export interface CrowdedPool extends TestPool {
  /** What capture has on record. */
  readonly reported: DepthEstimate;
  readonly tierRank: number;
  /** Whether a route read it before, at a block with other prices. */
  readonly isObserved: boolean;
  /** What it showed then. */
  readonly before: DepthEstimate;
}

export interface CrowdedMarket {
  readonly pools: readonly CrowdedPool[];
  readonly scaleIn: Scale;
  readonly scaleOut: Scale;
}

type Side = readonly DepthLevel[];
type Unnamed = Omit<CrowdedPool, 'address' | 'token0' | 'token1'>;

const tierRank = fc.integer({ min: 1, max: 4 });
const NOTHING: DepthEstimate = { inputs: [], outputs: [] };

/** All of a side at the price of its first bin, as balances and prices make believe. */
function reportOf(side: Side, timesE3 = 1_000n): DepthEstimate {
  const [first, last] = [side[0], side.at(-1)];
  if (!first || !last || first.cumulativeOutput === 0n) return NOTHING;
  const output = (last.cumulativeOutput * timesE3) / 1_000n;
  return estimateDepth([
    { cumulativeInput: (output * first.cumulativeInput) / first.cumulativeOutput, cumulativeOutput: output },
  ]);
}

/** A side whose outputs are a part of another's, in millionths. */
const repriced = (side: Side, partE6: bigint): Side =>
  side.map((level) => ({ ...level, cumulativeOutput: (level.cumulativeOutput * partE6) / 1_000_000n }));

const thinned = (side: Side, by: bigint): Side =>
  side.map((level) => ({
    ...level,
    cumulativeInput: level.cumulativeInput / by,
    cumulativeOutput: level.cumulativeOutput / by,
  }));

/** Most are known, and were about as good at a block before. */
const honest = (side: Side): fc.Arbitrary<Unnamed> =>
  fc.record({
    side: fc.constant(side),
    reported: fc.constant(reportOf(side)),
    tierRank,
    isObserved: fc.integer({ min: 0, max: 9 }).map((digit) => digit < 7),
    before: fc.bigInt(999_000n, 1_001_000n).map((partE6) => estimateDepth(repriced(side, partE6))),
  });

/** Far more on record than anyone has: at a bad price, at a good one and refused, or dust at the best price. */
const hostile = (side: Side): fc.Arbitrary<Unnamed> => {
  const bad = repriced(side, 600_000n);
  const dust = thinned(repriced(side, 1_005_000n), 1_000n);
  const shapes = [
    { side: bad, reported: reportOf(bad, 1_000_000n), before: estimateDepth(bad) },
    { side: [], reported: reportOf(side, 1_000_000n), before: NOTHING },
    { side: [], reported: NOTHING, before: NOTHING },
    { side: dust, reported: reportOf(dust), before: estimateDepth(dust) },
  ];
  return fc.tuple(fc.constantFrom(...shapes), tierRank, fc.boolean()).map(([shape, tier, isObserved]) => ({
    ...shape,
    tierRank: tier,
    isObserved,
  }));
};

interface Crowd {
  readonly tokens: readonly [Address, Address];
  readonly scales: readonly [Scale, Scale];
  /** Most honest pools, and most hostile ones. */
  readonly most: readonly [number, number];
}

function crowd({ tokens, scales, most }: Crowd) {
  const side = pricedSide(...scales);
  const [token0, token1] = tokens.map((address) => ({ address }));
  return fc
    .tuple(
      fc.array(side.chain(honest), { minLength: 1, maxLength: most[0], size: 'max' }),
      fc.array(side.chain(hostile), { maxLength: most[1], size: 'max' }),
    )
    .map((lists) => lists.flat().map((pool) => ({ ...pool, token0, token1 }) as Omit<CrowdedPool, 'address'>));
}

/** Up to 140 direct pools, and up to 90 over each of two more tokens. */
export const crowdedMarket: fc.Arbitrary<CrowdedMarket> = fc
  .record({ scaleIn: scale, scaleOut: scale, middle: fc.array(scale, { maxLength: 2 }) })
  .chain(({ scaleIn, scaleOut, middle }) => {
    const groups = [crowd({ tokens: [TOKEN_IN, TOKEN_OUT], scales: [scaleIn, scaleOut], most: [40, 100] })];
    for (const [index, scaleMiddle] of middle.entries()) {
      const token = MIDDLE[index] ?? TOKEN_IN;
      groups.push(crowd({ tokens: [TOKEN_IN, token], scales: [scaleIn, scaleMiddle], most: [15, 30] }));
      groups.push(crowd({ tokens: [token, TOKEN_OUT], scales: [scaleMiddle, scaleOut], most: [15, 30] }));
    }
    return fc.tuple(...groups).map((lists) => ({ pools: lists.flat().map(withAddress), scaleIn, scaleOut }));
  });

const withAddress = (pool: Omit<CrowdedPool, 'address'>, index: number): CrowdedPool => ({
  ...pool,
  address: `0x${(index + 1).toString(16).padStart(40, '0')}`,
});
