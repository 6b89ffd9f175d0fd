import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import { toRawFloor } from '../../protocol/scaling.ts';
import type { PoolDay } from './analytics.ts';
import type { PoolFacts } from './read-pool-facts.ts';

/** What is known of a pool's cursor, liquidity and fees: by its events, or by storage where events do not tell. */
export type KnownState = {
  readonly day: PoolDay;
  /** Undefined when it is not known. */
  readonly curBinIdx: number | undefined;
};

export function knownState({ day, curBinIdx, storage, scale }: PoolFacts, { layout }: DeploymentConfig): KnownState {
  if (storedLayout(layout) === undefined) return { day, curBinIdx: curBinIdx ?? undefined };
  const { totals } = day;
  const unknownFees = { feesScaled: null, lpFeesScaled: null, weekLpFeesScaled: null };
  if (storage === null) return { day: { totals, ...unknownFees, liquidityRaw: null }, curBinIdx: undefined };
  const [total0, total1] = storage.totalsScaled;
  const liquidityRaw = [toRawFloor(total0, scale.multiplier0), toRawFloor(total1, scale.multiplier1)] as const;
  return { day: { totals, ...unknownFees, liquidityRaw }, curBinIdx: storage.curBinIdx };
}
