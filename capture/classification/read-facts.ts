import type { Address } from 'viem';
import type { Queryable } from '../../db/transaction.ts';
import type { PoolFacts, StopLossFacts, TokenFacts } from '../../protocol/classification-facts.ts';
import { EXTENSIONS_SQL, type ExtensionColumns, type ExtensionRow, toExtensions } from '../pools/extension-rows.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { PROVIDER_COLUMNS_SQL, type ProviderColumns, type ProviderRow, toProvider } from '../pools/provider-rows.ts';

/** A pool's key with all that its tier depends on. */
export type PoolWithFacts = { readonly chainId: number; readonly pool: Address; readonly facts: PoolFacts };

const FACTS_SQL = `
  SELECT p.chain_id, p.address, p.factory, p.token0, p.token1, p.creator, p.admin, c.verified,
         p.price_provider_timelock_secs, b.widest_bin_e6, x.extensions, ${PROVIDER_COLUMNS_SQL}
  FROM read_model.pool p
  JOIN (
    SELECT chain_id, pool, max(length_e6) AS widest_bin_e6 FROM read_model.pool_bin GROUP BY chain_id, pool
  ) b ON b.chain_id = p.chain_id AND b.pool = p.address
  LEFT JOIN read_model.price_provider v ON v.chain_id = p.chain_id AND v.address = p.price_provider
  LEFT JOIN ${EXTENSIONS_SQL} x ON x.chain_id = p.chain_id AND x.pool = p.address
  LEFT JOIN operator.curator c ON c.chain_id = p.chain_id AND c.address = p.admin`;

type FactsColumns = ProviderColumns & {
  readonly chain_id: string;
  readonly address: string;
  readonly factory: string;
  readonly token0: string;
  readonly token1: string;
  readonly creator: string;
  readonly admin: string;
  readonly verified: boolean | null;
  readonly price_provider_timelock_secs: string;
  readonly widest_bin_e6: number;
  readonly extensions: readonly ExtensionColumns[] | null;
};

/** Reads the facts of every pool of an enabled deployment. */
export async function readClassificationFacts(
  database: Queryable,
  registry: OperatorRegistry,
): Promise<readonly PoolWithFacts[]> {
  const { rows } = await database.query<FactsColumns>(FACTS_SQL);
  return rows.flatMap((row) => toFacts(row, registry));
}

function toFacts(row: FactsColumns, registry: OperatorRegistry): PoolWithFacts[] {
  const chainId = Number(row.chain_id);
  const deployment = registry.deploymentOf(chainId, row.factory);
  if (!deployment) return [];
  const extensions = toExtensions(row.extensions);
  const facts: PoolFacts = {
    widestBinE6: row.widest_bin_e6,
    stopLoss: stopLossFacts(extensions.find(({ address }) => address === deployment.stopLoss)),
    provider: providerFacts(toProvider(row), chainId, registry),
    priceProviderTimelock: BigInt(row.price_provider_timelock_secs),
    admin: row.admin as Address,
    creator: row.creator as Address,
    adminVerified: row.verified ?? false,
    extensions,
    token0: tokenFacts(chainId, row.token0, registry),
    token1: tokenFacts(chainId, row.token1, registry),
  };
  return [{ chainId, pool: row.address as Address, facts }];
}

/** The extension counts as initialised once any of its settings was announced. */
function stopLossFacts(extension: ExtensionRow | undefined): StopLossFacts | null {
  if (!extension) return null;
  const { phases, drawdownE6, decayPerSecondE8, timelockSecs } = extension;
  return {
    phases,
    initialized: drawdownE6 !== null,
    drawdownE6: drawdownE6 ?? 0n,
    decayPerSecondE8: decayPerSecondE8 ?? 0n,
    timelockSecs: timelockSecs ?? 0n,
  };
}

function providerFacts(
  provider: ProviderRow | null,
  chainId: number,
  registry: OperatorRegistry,
): PoolFacts['provider'] {
  if (!provider) return { kind: 'unknown' };
  const { oracle, base, quote, baseFeedId, quoteFeedId } = provider;
  const usesMultiplierOracle = registry.isMultiplierOracle(chainId, oracle);
  const feeds = { oracle, base, quote, baseFeedId, quoteFeedId, usesMultiplierOracle };
  if (provider.kind !== 'anchored') return { kind: 'regular', ...feeds };
  return {
    kind: 'anchored',
    ...feeds,
    mutableParams: provider.mutableParams ?? false,
    maxRefStalenessSecs: provider.maxRefStalenessSecs ?? 0n,
  };
}

function tokenFacts(chainId: number, address: string, registry: OperatorRegistry): TokenFacts {
  const config = registry.token(chainId, address);
  return {
    address: address as Address,
    feedIds: config?.feedIds ?? [],
    usdPegged: config?.usdPegged ?? false,
    multiplierOracle: config?.multiplierOracle ?? null,
  };
}
