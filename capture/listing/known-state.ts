import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';
import { type TokenScale, toRawFloor } from '../../protocol/scaling.ts';
import type { KnownPair, PoolDay, TokenAmounts } from './analytics.ts';
import type { PoolFacts } from './pool-facts.ts';

/** A pool's cursor, liquidity and fees: by its events, or by storage where events do not tell. */
export type KnownState = { readonly day: PoolDay; readonly curBinIdx: number };

/**
 * @param deployment that of the pool: readings that it names hold, whatever was decided
 * @returns null while liquidity and cursor are not known
 */
export function knownState(facts: PoolFacts, deployment: DeploymentConfig): KnownState | null {
  const { day, curBinIdx } = facts;
  const layout = storedLayout(deployment.layout);
  if (layout === undefined) return asIndexed(day, curBinIdx);
  const readings = { ...facts.readings, ...deployment.packed };
  const lpFeesScaled = layout.lpFeesScaled(readings, day.totals);
  const fees = {
    lpFeesScaled,
    feesScaled: sum(lpFeesScaled, layout.platformFeesScaled(readings, day.totals)),
    weekLpFeesScaled: layout.lpFeesScaled(readings, facts.week),
  };
  const storage = layout.isStorageKnown(readings) ? facts.storage : null;
  if (storage === null) return null;
  const liquidityRaw = toRaw(storage.totalsScaled, facts.scale);
  return { day: { totals: day.totals, ...fees, liquidityRaw }, curBinIdx: storage.curBinIdx };
}

function asIndexed(day: PoolFacts['day'], curBinIdx: number | null): KnownState | null {
  const { liquidityRaw } = day;
  return liquidityRaw === null || curBinIdx === null ? null : { day: { ...day, liquidityRaw }, curBinIdx };
}

function sum(a: KnownPair, b: KnownPair): KnownPair {
  return a && b && [a[0] + b[0], a[1] + b[1]];
}

function toRaw([total0, total1]: readonly [bigint, bigint], { multiplier0, multiplier1 }: TokenScale): TokenAmounts {
  return [toRawFloor(total0, multiplier0), toRawFloor(total1, multiplier1)];
}
