import { and, asc, isNull, type SQL, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { delistedPools } from '../../db/schema/operator.ts';
import { poolExtensions, pools } from '../../db/schema/read-model.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import type { PoolImmutables } from '../../protocol/layout.ts';
import type { ExtensionKind, PoolExtension, PoolToken, ServedPool } from './pool-directory.ts';

/** Place of a pool in the order in which the directory reads. */
export type PoolKey = Pick<ServedPool, 'chainId' | 'address'>;

export type PoolRow = Awaited<ReturnType<typeof selectPools>>[number];

const EXTENSIONS_OF_POOL = sql<readonly Pick<PoolExtension, 'address' | 'phases'>[] | null>`(
  SELECT json_agg(json_build_object('address', ${poolExtensions.address}, 'phases', ${poolExtensions.phases})
    ORDER BY ${poolExtensions.position})
  FROM ${poolExtensions}
  WHERE ${poolExtensions.chainId} = ${pools.chainId} AND ${poolExtensions.pool} = ${pools.address})`;

const isDelisted = sql`${delistedPools.chainId} = ${pools.chainId} AND ${delistedPools.pool} = ${pools.address}`;

/**
 * Listed pools in the order of their keys: index steps alone, however many pools there are.
 *
 * @param after the key behind which it begins
 * @param count most rows
 */
export function selectPools(database: Database, after: PoolKey | null, count: number, condition?: SQL) {
  const isBehind = after && sql`(${pools.chainId}, ${pools.address}) > (${after.chainId}, ${after.address})`;
  return database
    .select({
      chainId: pools.chainId,
      address: pools.address,
      factory: pools.factory,
      createdBlockNumber: pools.createdBlockNumber,
      pair: pools.pair,
      token0: pools.token0,
      token1: pools.token1,
      token0Symbol: pools.token0Symbol,
      token1Symbol: pools.token1Symbol,
      token0Decimals: pools.token0Decimals,
      token1Decimals: pools.token1Decimals,
      token0ScaleMultiplier: pools.token0ScaleMultiplier,
      token1ScaleMultiplier: pools.token1ScaleMultiplier,
      lowestBin: pools.lowestBin,
      highestBin: pools.highestBin,
      priceProvider: pools.priceProvider,
      priceProviderTimelockSecs: pools.priceProviderTimelockSecs,
      extensions: EXTENSIONS_OF_POOL,
    })
    .from(pools)
    .leftJoin(delistedPools, isDelisted)
    .where(and(isNull(delistedPools.pool), isBehind ?? undefined, condition))
    .orderBy(asc(pools.chainId), asc(pools.address))
    .limit(count);
}

/** Changes when another index is served, and when pools are delisted or listed again: any pool may have changed then. */
export async function readEpoch(database: Database): Promise<string> {
  const { rows } = await database.execute<{ readonly epoch: string }>(sql`
    SELECT concat_ws(':', to_regclass('live.pool')::oid, count(*), max(${delistedPools.delistedAt})) AS epoch
    FROM ${delistedPools}`);
  return rows[0]?.epoch ?? '';
}

const NO_EXTENSIONS: readonly PoolExtension[] = [];

/** Makes served pools of rows, of enabled deployments alone. Pools share the objects of their tokens and immutables. */
export class PoolMaker {
  readonly #deployments: ReadonlyMap<string, DeploymentConfig>;
  /** By chain and address. */
  readonly #tokens = new Map<number, Map<Address, PoolToken>>();
  /** By their values. */
  readonly #immutables = new Map<string, PoolImmutables>();

  constructor(chains: readonly ChainConfig[]) {
    this.#deployments = new Map(
      chains.flatMap(({ chainId, deployments }) =>
        deployments
          .filter(({ enabled }) => enabled)
          .map((deployment) => [`${chainId}:${deployment.poolFactory}`, deployment] as const),
      ),
    );
  }

  /** @returns null for a pool of a factory that is not served */
  make(row: PoolRow): ServedPool | null {
    const deployment = this.#deployments.get(`${row.chainId}:${row.factory}`);
    if (!deployment) return null;
    const token0 = this.#token(row.chainId, row.token0, row.token0Symbol, row.token0Decimals);
    const token1 = this.#token(row.chainId, row.token1, row.token1Symbol, row.token1Decimals);
    return {
      chainId: row.chainId,
      address: row.address,
      contractVersion: deployment.contractVersion,
      layout: deployment.layout,
      token0,
      token1,
      pair: row.pair,
      immutables: this.#immutablesOf(row),
      // A provider that can never change has the largest of all timelocks.
      immutableProvider: row.priceProviderTimelockSecs === MAX_UINT256 ? row.priceProvider : null,
      extensions:
        row.extensions?.map((extension) => ({ ...extension, kind: kindOf(extension.address, deployment) })) ??
        NO_EXTENSIONS,
      stopLossMark: deployment.stopLossMark,
    };
  }

  #token(chainId: number, address: Address, symbol: string | null, decimals: number | null): PoolToken {
    const tokens = this.#tokens.get(chainId) ?? new Map<Address, PoolToken>();
    this.#tokens.set(chainId, tokens);
    const known = tokens.get(address);
    if (known && known.symbol === symbol && known.decimals === decimals) return known;
    const token = { address: known?.address ?? address, symbol, decimals };
    tokens.set(token.address, token);
    return token;
  }

  #immutablesOf(row: PoolRow): PoolImmutables {
    const { lowestBin, highestBin, token0ScaleMultiplier: multiplier0, token1ScaleMultiplier: multiplier1 } = row;
    const key = `${lowestBin}:${highestBin}:${multiplier0}:${multiplier1}`;
    const immutables = this.#immutables.get(key) ?? { lowestBin, highestBin, scale: { multiplier0, multiplier1 } };
    this.#immutables.set(key, immutables);
    return immutables;
  }
}

function kindOf(address: Address, deployment: DeploymentConfig): ExtensionKind {
  const { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } = deployment;
  const kinds = { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } as const;
  const found = Object.entries(kinds).find(([, known]) => known === address);
  return found ? (found[0] as keyof typeof kinds) : 'custom';
}
