import { describe, expect, it } from 'vitest';
import { classifyPool, isAnchoredFeedMatched, type ReasonCode } from './classification.ts';
import { CASES, GREEN, REGULAR, stopLoss } from './classification-cases.fixture.ts';

/** `tsc` refuses a code that is missing here. */
const EVERY_CODE: Readonly<Record<ReasonCode, true>> = {
  bin_width_exceeded: true,
  stop_loss_missing: true,
  stop_loss_uninitialized: true,
  stop_loss_mutable: true,
  stop_loss_drawdown_exceeded: true,
  stop_loss_decay_exceeded: true,
  app_missing: true,
  app_mutable: true,
  feed_staleness_exceeded: true,
  price_provider_mutable: true,
  curator_unverified: true,
  curator_not_creator: true,
  remove_liquidity_extension_present: true,
  anchored_feed_unmatched: true,
  multiplier_feed_miswired: true,
  multiplier_token_unscaled: true,
};

describe('classifyPool', () => {
  it.each(CASES)('gives $tier when $when', ({ facts, tier, codes }) => {
    expect(classifyPool({ ...GREEN, ...facts })).toEqual({ tier, reasonCodes: codes });
  });

  it('has a case for every code that can be emitted', () => {
    const covered = CASES.flatMap(({ codes }) => codes);
    expect(Object.keys(EVERY_CODE).filter((code) => !covered.includes(code as ReasonCode))).toEqual([]);
  });

  it('lists several reasons in the order of the contract', () => {
    const { reasonCodes } = classifyPool({
      ...GREEN,
      widestBinE6: 20_000,
      ...stopLoss({ drawdownE6: 200_000n, timelockSecs: 60n }),
      adminVerified: false,
    });
    expect(reasonCodes).toEqual([
      'bin_width_exceeded',
      'stop_loss_mutable',
      'stop_loss_drawdown_exceeded',
      'curator_unverified',
    ]);
  });
});

it('confirms feeds of anchored providers only', () => {
  expect(isAnchoredFeedMatched(GREEN)).toBe(true);
  expect(isAnchoredFeedMatched({ ...GREEN, provider: REGULAR })).toBe(false);
  expect(isAnchoredFeedMatched({ ...GREEN, provider: { kind: 'unknown' } })).toBe(false);
});
