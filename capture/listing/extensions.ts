import { sql } from 'drizzle-orm';
import type { Address } from 'viem';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { StoredRecord } from '../../db/listing/show-pool.ts';
import { pools } from '../../db/schema/read-model.ts';
import { type ExtensionPhase, SWAP_PHASES } from '../../protocol/pool-events.ts';

/**
 * An extension, with what a StopLoss, PriceVelocityGuard or allowlist at its address says of the pool; integers as
 * text.
 */
export type ExtensionRow = {
  readonly address: Address;
  readonly phases: readonly ExtensionPhase[];
  readonly drawdownE6: string | null;
  readonly decayPerSecondE18: string | null;
  readonly timelockSecs: string | null;
  readonly maxChangePerBlockE18: string | null;
  readonly allowAll: boolean | null;
};

/**
 * Selects the extensions of a row of `pools`, in the pool's order; null without any. Stop losses of the flat layout
 * report their decay in 10^-8.
 */
export const extensionsOfPool = sql<readonly ExtensionRow[] | null>`(
  SELECT json_agg(json_build_object(
    'address', e.address, 'phases', e.phases, 'drawdownE6', s.drawdown_e6::text, 'timelockSecs', s.timelock_secs::text,
    'decayPerSecondE18',
      coalesce(packed.decay_per_second_e18, s.decay_per_second_e8 * 10::numeric ^ 10)::numeric(78, 0)::text,
    'maxChangePerBlockE18', v.max_change_per_block_e18::text, 'allowAll', a.allow_all) ORDER BY e.position)
  FROM read_model.pool_extension e
  LEFT JOIN read_model.stop_loss s USING (chain_id, pool, address)
  LEFT JOIN read_model.packed_stop_losses() packed USING (chain_id, pool, address)
  LEFT JOIN read_model.price_velocity v USING (chain_id, pool, address)
  LEFT JOIN read_model.allowlist a USING (chain_id, pool, address)
  WHERE e.chain_id = ${pools.chainId} AND e.pool = ${pools.address})`;

/**
 * Gives the fields of a pool record about its extensions. Standard ones have the addresses that the deployment names.
 */
export function extensionFields(extensions: readonly ExtensionRow[], deployment: DeploymentConfig) {
  const find = (address: string | undefined) => extensions.find((extension) => extension.address === address);
  const stopLoss = find(deployment.stopLoss);
  const velocity = find(deployment.priceVelocityGuard);
  const depositAllowlist = restricting(find(deployment.depositAllowlist), 'beforeAddLiquidity');
  return {
    depositWhitelistingEnabled: depositAllowlist !== undefined,
    depositAllowlistProvider: depositAllowlist?.address,
    swapWhitelistingEnabled: restricting(find(deployment.swapAllowlist), 'beforeSwap') !== undefined,
    extensions: extensions.map(({ address }) => address),
    extensionDetails: (stopLoss || velocity) && {
      stopLoss: stopLoss && {
        drawdownE6: stopLoss.drawdownE6,
        decayPerSecondE18: stopLoss.decayPerSecondE18,
        timelockSecs: stopLoss.timelockSecs,
        phases: swapPhases(stopLoss),
      },
      priceVelocity: velocity && {
        maxChangePerBlockE18: velocity.maxChangePerBlockE18,
        phases: swapPhases(velocity),
      },
    },
  } satisfies Partial<StoredRecord>;
}

const swapPhases = ({ phases }: ExtensionRow) => phases.filter((phase) => SWAP_PHASES.includes(phase));

/** An allowlist that lets not everyone pass. @param phase the only one in which it rejects anyone */
const restricting = (allowlist: ExtensionRow | undefined, phase: ExtensionPhase) =>
  allowlist?.phases.includes(phase) && allowlist.allowAll !== true ? allowlist : undefined;
