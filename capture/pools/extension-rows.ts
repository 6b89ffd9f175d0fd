import type { Address } from 'viem';
import type { ExtensionPhase } from '../../protocol/pool-events.ts';
import { bigintOrNull } from './bigint-or-null.ts';

/** An extension with whatever a StopLoss, a PriceVelocityGuard or an allowlist at its address says of the pool. */
export type ExtensionRow = {
  readonly address: Address;
  readonly phases: readonly ExtensionPhase[];
  readonly drawdownE6: bigint | null;
  readonly decayPerSecondE8: bigint | null;
  readonly timelockSecs: bigint | null;
  readonly maxChangePerBlockE18: bigint | null;
  readonly allowAll: boolean | null;
};

/** An element of `extensions` of {@link EXTENSIONS_SQL}. */
export type ExtensionColumns = {
  readonly address: string;
  readonly phases: readonly string[];
  readonly drawdown_e6: string | null;
  readonly decay_per_second_e8: string | null;
  readonly timelock_secs: string | null;
  readonly max_change_per_block_e18: string | null;
  readonly allow_all: boolean | null;
};

/** A subquery: `chain_id`, `pool` and `extensions`, a JSON array in the pool's order. */
export const EXTENSIONS_SQL = `(
    SELECT e.chain_id, e.pool, json_agg(json_build_object(
             'address', e.address, 'phases', e.phases,
             'drawdown_e6', s.drawdown_e6::text, 'decay_per_second_e8', s.decay_per_second_e8::text,
             'timelock_secs', s.timelock_secs::text, 'max_change_per_block_e18', v.max_change_per_block_e18::text,
             'allow_all', a.allow_all) ORDER BY e."position") AS extensions
    FROM read_model.pool_extension e
    LEFT JOIN read_model.stop_loss s USING (chain_id, address, pool)
    LEFT JOIN read_model.price_velocity v USING (chain_id, address, pool)
    LEFT JOIN read_model.allowlist a USING (chain_id, address, pool)
    GROUP BY e.chain_id, e.pool
  )`;

/** @param columns null for a pool without extensions */
export function toExtensions(columns: readonly ExtensionColumns[] | null): ExtensionRow[] {
  return (columns ?? []).map((extension) => ({
    address: extension.address as Address,
    phases: extension.phases as readonly ExtensionPhase[],
    drawdownE6: bigintOrNull(extension.drawdown_e6),
    decayPerSecondE8: bigintOrNull(extension.decay_per_second_e8),
    timelockSecs: bigintOrNull(extension.timelock_secs),
    maxChangePerBlockE18: bigintOrNull(extension.max_change_per_block_e18),
    allowAll: extension.allow_all,
  }));
}
