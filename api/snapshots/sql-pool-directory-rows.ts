import { type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { readStopLossMarks, readUnreadableFactories } from '../../db/factory-calibration.ts';
import { delistedPools } from '../../db/schema/operator.ts';
import { poolExtensions, pools } from '../../db/schema/read-model.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import type { StopLossMark } from '../../protocol/guards/stop-loss.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { PoolImmutables } from '../../protocol/pool-state.ts';
import type { ExtensionKind, PoolExtension, PoolToken, ServedPool } from './pool-directory.ts';

/** Place of a pool in the order in which the directory reads. */
export type PoolKey = Pick<ServedPool, 'chainId' | 'address'>;

const FIELDS = [
  'chainId',
  'address',
  'factory',
  'createdBlockNumber',
  'pair',
  'token0',
  'token1',
  'token0Symbol',
  'token1Symbol',
  'token0Decimals',
  'token1Decimals',
  'token0ScaleMultiplier',
  'token1ScaleMultiplier',
  'lowestBin',
  'highestBin',
  'priceProvider',
  'priceProviderTimelockSecs',
] as const;

type Field = (typeof FIELDS)[number];
type Extensions = { readonly extensions: readonly Pick<PoolExtension, 'address' | 'phases'>[] | null };
export type PoolRow = { readonly [F in Field]: (typeof pools.$inferSelect)[F] } & Extensions;
/** A row as the driver gives it: int8 and numeric are text. */
type DriverRow = Extensions & {
  readonly [F in Field]: (typeof pools)[F]['_'] extends { columnType: 'PgBigInt53' } | { data: bigint }
    ? string
    : PoolRow[F];
};

const EXTENSIONS_OF_POOL = sql`(
  SELECT json_agg(json_build_object('address', ${poolExtensions.address}, 'phases', ${poolExtensions.phases})
    ORDER BY ${poolExtensions.position})
  FROM ${poolExtensions}
  WHERE ${poolExtensions.chainId} = ${pools.chainId} AND ${poolExtensions.pool} = ${pools.address})`;

const isDelisted = sql`${delistedPools.chainId} = ${pools.chainId} AND ${delistedPools.pool} = ${pools.address}`;

/**
 * Reads listed pools in the order of their keys, a slice at a time: index steps alone, however many pools there are. The
 * texts are made once, and rows are decoded here: both would else take most of the main thread's time for a slice.
 *
 * @param chainIds chains whose newest pools are asked for
 * @param count most rows of a slice
 */
export function createPoolReader({ $client }: Database, chainIds: readonly number[], count: number) {
  const all = { name: `pool-directory-${count}`, text: selectText(count, sql`true`) };
  // Without a name: how it is best read depends on how many pools are new.
  const newest = { text: selectText(count, isSince(chainIds)) };
  /**
   * @param after the key behind which it begins
   * @param since for the newest pools alone: of each of the chains, the first block
   */
  return async (after: PoolKey | null, since?: readonly number[]): Promise<PoolRow[]> => {
    const values = [after?.chainId ?? 0, after?.address ?? '', ...(since ?? [])];
    const { rows } = await $client.query<DriverRow>({ ...(since ? newest : all), values });
    // Emptied: the driver's array outlives young collections, and would keep its rows with it.
    return rows.splice(0).map(decode);
  };
}

/**
 * `$1` and `$2` are the key behind which it begins, out of the planner's sight: it takes few rows to be behind a key of the
 * last chains, and would read and sort all of them. The number of rows is a literal, so that it knows how few these are.
 */
function selectText(count: number, condition: SQL): string {
  const columns = FIELDS.map((field) => sql`${pools[field]} AS ${sql.identifier(field)}`);
  const statement = sql`
    SELECT ${sql.join(columns, sql`, `)}, ${EXTENSIONS_OF_POOL} AS extensions
    FROM ${pools} LEFT JOIN ${delistedPools} ON ${isDelisted}
    WHERE ${delistedPools.pool} IS NULL AND ${condition}
      AND (${pools.chainId}, ${pools.address}) > ((SELECT $1::int8), (SELECT $2::text))
    ORDER BY ${pools.chainId}, ${pools.address} LIMIT ${sql.raw(`${count}`)}`;
  return new PgDialect().sqlToQuery(statement).sql;
}

/** One parameter for each chain, from `$3` on: the first block. */
function isSince(chainIds: readonly number[]): SQL {
  const { chainId, createdBlockNumber } = pools;
  const ofChain = chainIds.map(
    (id, index) => sql`(${chainId} = ${sql.raw(`${id}`)} AND ${createdBlockNumber} >= ${sql.raw(`$${index + 3}`)})`,
  );
  return sql`(${sql.join(ofChain, sql` OR `)})`;
}

const decode = (row: DriverRow): PoolRow => ({
  ...row,
  chainId: Number(row.chainId),
  createdBlockNumber: Number(row.createdBlockNumber),
  token0ScaleMultiplier: BigInt(row.token0ScaleMultiplier),
  token1ScaleMultiplier: BigInt(row.token1ScaleMultiplier),
  priceProviderTimelockSecs: BigInt(row.priceProviderTimelockSecs),
});

/** What holds for many pools at once. */
export interface DirectoryEpoch {
  /** Changes when another index is served, and when pools are delisted or listed again: any pool may have changed then. */
  readonly epoch: string;
  readonly calibration: DirectoryCalibration;
}

/** What calibration says of factories, as {@link factoryKey} names them. */
export interface DirectoryCalibration {
  /** Their pools cannot be read, and are not served. */
  readonly unreadable: ReadonlySet<string>;
  readonly stopLossMarks: ReadonlyMap<string, StopLossMark>;
}

export async function readEpoch(database: Database): Promise<DirectoryEpoch> {
  const { rows } = await database.execute<{ readonly epoch: string }>(sql`
    SELECT concat_ws(':', to_regclass('live.pool')::oid, count(*), max(${delistedPools.delistedAt})) AS epoch
    FROM ${delistedPools}`);
  const unreadable = (await readUnreadableFactories(database.$client)).map(factoryKey);
  const marks = (await readStopLossMarks(database.$client)).map((row) => [factoryKey(row), row.mark] as const);
  return {
    epoch: [rows[0]?.epoch, ...unreadable, ...marks.flat()].join(),
    calibration: { unreadable: new Set(unreadable), stopLossMarks: new Map(marks) },
  };
}

const factoryKey = ({ chainId, factory }: Pick<PoolRow, 'chainId' | 'factory'>) => `${chainId}:${factory}`;

const NO_EXTENSIONS: readonly PoolExtension[] = [];

/** Makes served pools of rows, of enabled deployments alone. Pools share the objects of their tokens and immutables. */
export class PoolMaker {
  readonly #deployments: ReadonlyMap<string, DeploymentConfig>;
  #calibration: DirectoryCalibration = { unreadable: new Set(), stopLossMarks: new Map() };
  /** By chain and address. */
  readonly #tokens = new Map<number, Map<Address, PoolToken>>();
  /** By their values. */
  readonly #immutables = new Map<string, PoolImmutables>();

  constructor(chains: readonly ChainConfig[]) {
    this.#deployments = new Map(
      chains.flatMap(({ chainId, deployments }) =>
        deployments
          .filter(({ enabled }) => enabled)
          .map((deployment) => [factoryKey({ chainId, factory: deployment.poolFactory }), deployment] as const),
      ),
    );
  }

  /** Makes pools by this from now on. */
  use(calibration: DirectoryCalibration): void {
    this.#calibration = calibration;
  }

  /** @returns null for a pool of a factory that is not served */
  make(row: PoolRow): ServedPool | null {
    const key = factoryKey(row);
    const deployment = this.#deployments.get(key);
    if (!deployment || this.#calibration.unreadable.has(key)) return null;
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
      stopLossMark:
        deployment.stopLossMark ??
        layoutAdapter(deployment.layout).stopLoss.mark ??
        this.#calibration.stopLossMarks.get(key) ??
        null,
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
