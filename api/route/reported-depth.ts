import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import type { DepthEstimate } from '../../protocol/routing/pool-candidate.ts';
import type { PoolReport } from '../snapshots/pool-catalog.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import type { ReportedDepth } from './depth-estimates.ts';

const Q64 = 2 ** 64;

/**
 * What a pool claims to give by its balances and prices: the whole balance at the best price, since it has no more.
 *
 * @returns null unless it is healthy and holds anything
 */
export function reportedDepth({ immutables: { scale } }: ServedPool, report: PoolReport): ReportedDepth | null {
  const { isHealthy, balance0, balance1, tier } = report;
  if (!isHealthy || balance0 + balance1 === 0) return null;
  // Raw token1 for a raw token0.
  const unit = Number(scale.multiplier0) / Number(scale.multiplier1) / Q64;
  const [sell, buy] = [report.sellX64 * unit, report.buyX64 * unit];
  return {
    bids: claim(sell > 0 ? balance1 / sell : 0, balance1),
    asks: claim(balance0 * buy, balance0),
    tierRank: TIER_RANKS[tier ?? 'unclassified'],
  };
}

const claim = (input: number, output: number): DepthEstimate =>
  input > 0 && output > 0 ? { inputs: [input], outputs: [output] } : { inputs: [], outputs: [] };
