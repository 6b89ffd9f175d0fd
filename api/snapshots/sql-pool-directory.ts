import { and, eq, isNull, sql } from 'drizzle-orm';
import { QueryBuilder } from 'drizzle-orm/pg-core';
import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import { delistedPools } from '../../db/schema/operator.ts';
import { poolExtensions, pools } from '../../db/schema/read-model.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import type { Logger } from '../../runtime/logger.ts';
import { internalError, unavailable } from '../errors.ts';
import {
  type ExtensionKind,
  type PoolDirectory,
  type PoolTable,
  poolTable,
  type ServedPool,
} from './pool-directory.ts';

export interface SqlPoolDirectoryDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
}

/** How often the database is asked whether pools came or went, and how often all of them are read anew whatever it says. */
const POLL_MS = 2_000;
const RELOAD_MS = 60_000;

type ExtensionRow = Pick<typeof poolExtensions.$inferSelect, 'address' | 'phases'>;
type PoolRow = Awaited<ReturnType<typeof selectListedPools>>[number];

const extensionsOfPools = new QueryBuilder()
  .select({
    chainId: poolExtensions.chainId,
    pool: poolExtensions.pool,
    extensions: sql<readonly ExtensionRow[]>`json_agg(json_build_object(
      'address', ${poolExtensions.address}, 'phases', ${poolExtensions.phases}) ORDER BY ${poolExtensions.position})`.as(
      'extensions',
    ),
  })
  .from(poolExtensions)
  .groupBy(poolExtensions.chainId, poolExtensions.pool)
  .as('e');

const isDelistingOfPool = and(eq(delistedPools.chainId, pools.chainId), eq(delistedPools.pool, pools.address));

function selectListedPools(database: Database) {
  return database
    .select({
      chainId: pools.chainId,
      address: pools.address,
      factory: pools.factory,
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
      extensions: extensionsOfPools.extensions,
    })
    .from(pools)
    .leftJoin(
      extensionsOfPools,
      and(eq(extensionsOfPools.chainId, pools.chainId), eq(extensionsOfPools.pool, pools.address)),
    )
    .leftJoin(delistedPools, isDelistingOfPool)
    .where(isNull(delistedPools.pool))
    .orderBy(pools.chainId, pools.address);
}

/** Changes whenever a pool comes, goes, or is delisted: cheap enough to ask for all the time. */
async function readFingerprint(database: Database): Promise<string | undefined> {
  const { chainId, address, createdBlockNumber } = pools;
  const { chainId: delistedChainId, pool: delisted } = delistedPools;
  const [row] = await database
    .select({
      fingerprint: sql<string>`concat_ws(':',
        count(*), bit_xor(hashtextextended(${chainId} || ${address}, ${createdBlockNumber})),
        count(${delisted}), bit_xor(hashtextextended(${delistedChainId} || ${delisted}, 0)))`,
    })
    .from(pools)
    .leftJoin(delistedPools, isDelistingOfPool);
  return row?.fingerprint;
}

/** The pool directory over the read model: held in memory, refreshed beside the requests. */
export class SqlPoolDirectory implements PoolDirectory {
  readonly #deps: SqlPoolDirectoryDeps;
  readonly #timer: NodeJS.Timeout;
  #table: PoolTable | undefined;
  #fingerprint: string | undefined;
  #loadedAt = 0;
  #refreshing: Promise<PoolTable> | undefined;

  constructor(deps: SqlPoolDirectoryDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#refreshQuietly(), POLL_MS).unref();
  }

  async table(): Promise<PoolTable> {
    if (this.#table) return this.#table;
    try {
      return await this.#refresh();
    } catch (error) {
      throw (await isTemporaryFailure(error, this.#deps.database.$client)) ? unavailable(error) : internalError(error);
    }
  }

  /** Ends the refreshing. */
  stop(): void {
    clearInterval(this.#timer);
  }

  async #refreshQuietly(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'the pool directory was not refreshed: the last one known is served');
    }
  }

  #refresh(): Promise<PoolTable> {
    this.#refreshing ??= this.#load().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #load(): Promise<PoolTable> {
    const { database, chains } = this.#deps;
    const fingerprint = await readFingerprint(database);
    const isRecent = Date.now() - this.#loadedAt < RELOAD_MS;
    if (this.#table && isRecent && fingerprint === this.#fingerprint) return this.#table;
    this.#table = buildPoolTable(await selectListedPools(database), chains);
    this.#fingerprint = fingerprint;
    this.#loadedAt = Date.now();
    return this.#table;
  }
}

/** The table of the rows whose factory is an enabled deployment. */
function buildPoolTable(rows: readonly PoolRow[], chains: readonly ChainConfig[]): PoolTable {
  const deployments = new Map(
    chains.flatMap(({ chainId, deployments: all }) =>
      all.filter(({ enabled }) => enabled).map((deployment) => [`${chainId}:${deployment.poolFactory}`, deployment]),
    ),
  );
  const served = rows.flatMap((row) => {
    const deployment = deployments.get(`${row.chainId}:${row.factory}`);
    return deployment ? [toServedPool(row, deployment)] : [];
  });
  return poolTable(served);
}

function toServedPool(row: PoolRow, deployment: DeploymentConfig): ServedPool {
  return {
    chainId: row.chainId,
    address: row.address,
    contractVersion: deployment.contractVersion,
    layout: deployment.layout,
    token0: { address: row.token0, symbol: row.token0Symbol, decimals: row.token0Decimals },
    token1: { address: row.token1, symbol: row.token1Symbol, decimals: row.token1Decimals },
    pair: row.pair,
    immutables: {
      lowestBin: row.lowestBin,
      highestBin: row.highestBin,
      scale: { multiplier0: row.token0ScaleMultiplier, multiplier1: row.token1ScaleMultiplier },
    },
    // A provider that can never change has the largest of all timelocks.
    immutableProvider: row.priceProviderTimelockSecs === MAX_UINT256 ? row.priceProvider : null,
    extensions: (row.extensions ?? []).map((extension) => ({
      ...extension,
      kind: kindOf(extension.address, deployment),
    })),
    stopLossMark: deployment.stopLossMark,
  };
}

function kindOf(address: Address, deployment: DeploymentConfig): ExtensionKind {
  const { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } = deployment;
  const kinds = { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } as const;
  const found = Object.entries(kinds).find(([, known]) => known === address);
  return found ? (found[0] as keyof typeof kinds) : 'custom';
}
