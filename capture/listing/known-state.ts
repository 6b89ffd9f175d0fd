import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';
import { toRawFloor } from '../../protocol/scaling.ts';
import type { StoredLayout } from '../../protocol/stored-layout.ts';
import type { KnownPair, PoolDay } from './analytics.ts';
import type { PoolFacts } from './pool-facts.ts';
import { sumKnown } from './usd-value.ts';

/** A pool's cursor, liquidity and fees. */
export type KnownState = PoolDay & { readonly curBinIdx: number };

/**
 * Gives a pool's state from its events, or from its storage where the events of its layout do not show it.
 *
 * @param deployment of the pool; interpretations that it names override those that calibration decided
 * @returns null while liquidity and cursor are not known
 */
export function knownState(facts: PoolFacts, deployment: DeploymentConfig): KnownState | null {
  const layout = storedLayout(deployment.layout);
  return layout ? stateByStorage(facts, layout, deployment.packed) : stateByEvents(facts);
}

function stateByEvents({ day, week, curBinIdx, liquidity0Raw, liquidity1Raw }: PoolFacts): KnownState | null {
  const liquidityRaw = knownPair(liquidity0Raw, liquidity1Raw);
  if (liquidityRaw === null || curBinIdx === null) return null;
  const feesOf = (side: 0 | 1) =>
    sumKnown([day[`lpFee${side}Scaled`], day[`protocolFee${side}Scaled`], day[`notionalFee${side}Scaled`]]);
  return {
    curBinIdx,
    liquidityRaw,
    totals: day,
    feesScaled: knownPair(feesOf(0), feesOf(1)),
    lpFeesScaled: knownPair(day.lpFee0Scaled, day.lpFee1Scaled),
    weekLpFeesScaled: knownPair(week.lpFee0Scaled, week.lpFee1Scaled),
  };
}

function stateByStorage(
  { day, week, storage, token0ScaleMultiplier, token1ScaleMultiplier, ...facts }: PoolFacts,
  layout: StoredLayout,
  configured: DeploymentConfig['packed'],
): KnownState | null {
  const interpretations = { ...facts.interpretations, ...configured };
  const { curBinIdx = null, total0Scaled = null, total1Scaled = null } = storage ?? {};
  const totals = knownPair(total0Scaled, total1Scaled);
  if (totals === null || curBinIdx === null || !layout.isStorageKnown(interpretations)) return null;
  const lpFeesScaled = layout.lpFeesScaled(interpretations, day);
  const platformFees = layout.platformFeesScaled(interpretations, day);
  return {
    curBinIdx,
    liquidityRaw: [toRawFloor(totals[0], token0ScaleMultiplier), toRawFloor(totals[1], token1ScaleMultiplier)],
    totals: day,
    feesScaled: lpFeesScaled && platformFees && [lpFeesScaled[0] + platformFees[0], lpFeesScaled[1] + platformFees[1]],
    lpFeesScaled,
    weekLpFeesScaled: layout.lpFeesScaled(interpretations, week),
  };
}

const knownPair = (amount0: bigint | null, amount1: bigint | null): KnownPair =>
  amount0 === null || amount1 === null ? null : [amount0, amount1];
