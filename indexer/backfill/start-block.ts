import type pg from 'pg';
import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import { nextPoolIndex } from '../../chain/discovery/read-factory.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { chainKey, contractSources } from '../deployments.ts';

const CALL_TIMEOUT_MS = 10_000;

/** A factory, the block from which its chain is followed, and the nodes of the chain. */
export type FollowedFactory = {
  readonly chainId: number;
  readonly startBlock: number;
  readonly factory: Address;
  readonly rpc: ChainRpc;
};

/** Every factory of the enabled deployments. */
export function followedFactories(chains: readonly ChainConfig[]): FollowedFactory[] {
  const sources = contractSources(chains, ({ poolFactory }) => [poolFactory]);
  return chains.flatMap((chain) => {
    const { chainId } = chain;
    const { address: factories, startBlock } = sources[chainKey(chainId)] ?? { address: [], startBlock: 0 };
    const rpc = openChainRpc(chain, CALL_TIMEOUT_MS);
    return factories.map((factory) => ({ chainId, startBlock, factory, rpc }));
  });
}

/**
 * Rejects a start block after the first pool of a factory: state is built from events, so earlier ones would be missing
 * permanently. The served index knows the block of the first pool. When it has no pool of the factory, a node is asked
 * whether the factory had pools before the start block. If the node does not keep such old state, only
 * {@link assertNoMissingPools} finds the gap, before readers see the new index.
 *
 * @throws ConfigError that names the chain, its `fromBlock` and the factory
 */
export async function assertStartBlock(
  database: pg.Pool,
  served: string | null,
  factories: readonly FollowedFactory[],
): Promise<void> {
  for (const followed of factories.filter(({ startBlock }) => startBlock > 0)) {
    const { startBlock } = followed;
    const created = served === null ? null : (await firstPool(database, served, followed)).block;
    const isLate =
      created === null ? (await countPools(followed, startBlock - 1).catch(() => 0n)) > 0n : created < startBlock;
    if (isLate) throw lateStart(followed);
  }
}

/**
 * Rejects an index that lacks the first pool of a factory, checked at the last block that the index has of each chain.
 *
 * @throws ConfigError as {@link assertStartBlock}; RpcFailure
 */
export async function assertNoMissingPools(
  database: pg.Pool,
  schema: string,
  factories: readonly FollowedFactory[],
  filledTo: ReadonlyMap<number, number>,
): Promise<void> {
  for (const followed of factories) {
    const { index } = await firstPool(database, schema, followed);
    const isMissing =
      index === null ? (await countPools(followed, filledTo.get(followed.chainId) ?? 0)) > 0n : index > 1;
    if (isMissing) throw lateStart(followed);
  }
}

/** Number and creation block of the first pool of a factory in an index; null when the index has no pool of it. */
async function firstPool(
  database: pg.Pool,
  schema: string,
  { chainId, factory }: FollowedFactory,
): Promise<{ index: number | null; block: number | null }> {
  const { rows } = await database.query(
    `SELECT min(pool_idx)::float8 AS index, min(created_block_number)::float8 AS block
     FROM "${schema}".pool WHERE chain_id = $1 AND factory = $2`,
    [chainId, factory.toLowerCase()],
  );
  return rows[0];
}

/** How many pools a factory had created by the end of a block. */
async function countPools({ rpc, factory }: FollowedFactory, blockNumber: number): Promise<bigint> {
  const next = await nextPoolIndex(rpc, factory, await rpc.blockAt(BigInt(blockNumber)));
  return next === null ? 0n : next - 1n;
}

function lateStart({ chainId, startBlock, factory }: FollowedFactory): ConfigError {
  return new ConfigError(
    `CHAINS_CONFIG: fromBlock ${startBlock} of chain ${chainId} is too late: the first pool of factory ${factory} was ` +
      'created before it, and state is built from events',
  );
}
