import type { Address, Hex } from 'viem';
import { bigintOrNull } from './bigint-or-null.ts';

/** A price provider made by a known factory. Fields of the other kind are null. */
export type ProviderRow = {
  readonly kind: 'anchored' | 'regular' | 'regular_l2';
  readonly oracle: Address;
  readonly base: Address;
  readonly quote: Address;
  readonly marginStep: bigint;
  readonly baseFeedId: Hex;
  /** Null when one feed prices the pair. */
  readonly quoteFeedId: Hex | null;
  readonly minMargin: bigint | null;
  readonly maxRefStalenessSecs: bigint | null;
  readonly maxSpreadBps: number | null;
  readonly mutableParams: boolean | null;
  readonly maxTimeDeltaSecs: bigint | null;
  /** Null in reference mode. */
  readonly source: Address | null;
  readonly confidenceParam: bigint | null;
};

/** Columns of `read_model.price_provider`, joined as `v`. */
export const PROVIDER_COLUMNS_SQL = `
         v.kind AS provider_kind, v.oracle, v.base, v.quote, v.margin_step, v.base_feed_id, v.quote_feed_id,
         v.min_margin, v.max_ref_staleness_secs, v.max_spread_bps, v.mutable_params, v.max_time_delta_secs,
         v.source AS provider_source, v.confidence_param`;

/** {@link PROVIDER_COLUMNS_SQL} of a row; the kind is null when no known factory made the provider, and then all is. */
export type ProviderColumns = {
  readonly provider_kind: string | null;
  readonly oracle: string;
  readonly base: string;
  readonly quote: string;
  readonly margin_step: string;
  readonly base_feed_id: string;
  readonly quote_feed_id: string | null;
  readonly min_margin: string | null;
  readonly max_ref_staleness_secs: string | null;
  readonly max_spread_bps: number | null;
  readonly mutable_params: boolean | null;
  readonly max_time_delta_secs: string | null;
  readonly provider_source: string | null;
  readonly confidence_param: string | null;
};

const ZERO_WORD = `0x${'0'.repeat(64)}`;

export function toProvider(row: ProviderColumns): ProviderRow | null {
  if (row.provider_kind === null) return null;
  const quoteFeedId = row.quote_feed_id === ZERO_WORD ? null : row.quote_feed_id;
  return {
    kind: row.provider_kind as ProviderRow['kind'],
    oracle: row.oracle as Address,
    base: row.base as Address,
    quote: row.quote as Address,
    marginStep: BigInt(row.margin_step),
    baseFeedId: row.base_feed_id as Hex,
    quoteFeedId: quoteFeedId as Hex | null,
    minMargin: bigintOrNull(row.min_margin),
    maxRefStalenessSecs: bigintOrNull(row.max_ref_staleness_secs),
    maxSpreadBps: row.max_spread_bps,
    mutableParams: row.mutable_params,
    maxTimeDeltaSecs: bigintOrNull(row.max_time_delta_secs),
    source: row.provider_source as Address | null,
    confidenceParam: bigintOrNull(row.confidence_param),
  };
}
