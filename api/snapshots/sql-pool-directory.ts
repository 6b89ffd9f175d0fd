import { sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { z } from 'zod';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import { EXTENSION_PHASES } from '../../protocol/pool-events.ts';
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
/** A provider that can never change has the largest of all timelocks. */
const NEVER = 2n ** 256n - 1n;

const integer = z.coerce.number().int();
const PoolRow = z.object({
  chain_id: integer,
  address: HexAddress,
  factory: HexAddress,
  pair: z.string(),
  token0: HexAddress,
  token1: HexAddress,
  token0_symbol: z.string().nullable(),
  token1_symbol: z.string().nullable(),
  token0_decimals: z.number().nullable(),
  token1_decimals: z.number().nullable(),
  token0_scale_multiplier: z.coerce.bigint(),
  token1_scale_multiplier: z.coerce.bigint(),
  lowest_bin: integer,
  highest_bin: integer,
  price_provider: HexAddress,
  price_provider_timelock_secs: z.coerce.bigint(),
  extensions: z.array(z.object({ address: HexAddress, phases: z.array(z.enum(EXTENSION_PHASES)) })),
});
type PoolRow = z.infer<typeof PoolRow>;

const LISTED_POOLS = sql`
  SELECT p.chain_id, p.address, p.factory, p.pair, p.token0, p.token1,
         p.token0_symbol, p.token1_symbol, p.token0_decimals, p.token1_decimals,
         p.token0_scale_multiplier, p.token1_scale_multiplier, p.lowest_bin, p.highest_bin,
         p.price_provider, p.price_provider_timelock_secs, coalesce(e.extensions, '[]') AS extensions
  FROM read_model.pool p
  LEFT JOIN (
    SELECT chain_id, pool, json_agg(json_build_object('address', address, 'phases', phases) ORDER BY position) AS extensions
    FROM read_model.pool_extension GROUP BY chain_id, pool
  ) e ON e.chain_id = p.chain_id AND e.pool = p.address
  LEFT JOIN read_model.delisted_pool d ON d.chain_id = p.chain_id AND d.pool = p.address
  WHERE d.pool IS NULL`;

/** Changes whenever a pool comes, goes, or is delisted: cheap enough to ask for all the time. */
const FINGERPRINT = sql`
  SELECT concat_ws(':', count(*), bit_xor(hashtextextended(p.chain_id || p.address, p.created_block_number)),
                   count(d.pool), bit_xor(hashtextextended(d.chain_id || d.pool, 0))) AS fingerprint
  FROM read_model.pool p
  LEFT JOIN read_model.delisted_pool d ON d.chain_id = p.chain_id AND d.pool = p.address`;

/** The pool directory over the read model: held in memory, refreshed beside the requests. */
export class SqlPoolDirectory implements PoolDirectory {
  readonly #deps: SqlPoolDirectoryDeps;
  readonly #timer: NodeJS.Timeout;
  #table: PoolTable | undefined;
  #fingerprint: unknown;
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
    const [row] = (await database.execute(FINGERPRINT)).rows;
    const isRecent = Date.now() - this.#loadedAt < RELOAD_MS;
    if (this.#table && isRecent && row?.fingerprint === this.#fingerprint) return this.#table;
    const { rows } = await database.execute(LISTED_POOLS);
    this.#table = buildPoolTable(rows, chains);
    this.#fingerprint = row?.fingerprint;
    this.#loadedAt = Date.now();
    return this.#table;
  }
}

/** The table of the rows whose factory is an enabled deployment. */
export function buildPoolTable(rows: readonly unknown[], chains: readonly ChainConfig[]): PoolTable {
  const deployments = new Map(
    chains.flatMap(({ chainId, deployments: all }) =>
      all.filter(({ enabled }) => enabled).map((deployment) => [`${chainId}:${deployment.poolFactory}`, deployment]),
    ),
  );
  const pools = rows
    .map((row) => PoolRow.parse(row))
    .flatMap((row) => {
      const deployment = deployments.get(`${row.chain_id}:${row.factory}`);
      return deployment ? [toServedPool(row, deployment)] : [];
    });
  return poolTable(pools);
}

function toServedPool(row: PoolRow, deployment: DeploymentConfig): ServedPool {
  return {
    chainId: row.chain_id,
    address: row.address,
    contractVersion: deployment.contractVersion,
    layout: deployment.layout,
    token0: { address: row.token0, symbol: row.token0_symbol, decimals: row.token0_decimals },
    token1: { address: row.token1, symbol: row.token1_symbol, decimals: row.token1_decimals },
    pair: row.pair,
    immutables: {
      lowestBin: row.lowest_bin,
      highestBin: row.highest_bin,
      scale: { multiplier0: row.token0_scale_multiplier, multiplier1: row.token1_scale_multiplier },
    },
    immutableProvider: row.price_provider_timelock_secs === NEVER ? row.price_provider : null,
    extensions: row.extensions.map(({ address, phases }) => ({ address, phases, kind: kindOf(address, deployment) })),
    stopLossMark: deployment.stopLossMark,
  };
}

function kindOf(address: Address, deployment: DeploymentConfig): ExtensionKind {
  const { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } = deployment;
  const kinds = { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } as const;
  const found = Object.entries(kinds).find(([, known]) => known === address);
  return found ? (found[0] as keyof typeof kinds) : 'custom';
}
