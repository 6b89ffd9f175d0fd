import type pg from 'pg';
import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import { type ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { factoryFunctions as abi } from '../../protocol/abi/factory.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import { chainKey, contractSources } from '../deployments.ts';

const CALL_TIMEOUT_MS = 10_000;

/** A chain's factories, the block from which they are followed, and the nodes of the chain. */
export type FollowedFactories = {
  readonly chainId: number;
  readonly startBlock: number;
  readonly factories: readonly Address[];
  readonly rpc: ChainRpc;
};

export function followedFactories(chains: readonly ChainConfig[]): FollowedFactories[] {
  const sources = contractSources(chains, ({ poolFactory }) => [poolFactory]);
  return chains.flatMap((chain) => {
    const source = sources[chainKey(chain.chainId)];
    if (source === undefined) return [];
    const rpc = openChainRpc(chain, CALL_TIMEOUT_MS);
    return [{ chainId: chain.chainId, startBlock: source.startBlock, factories: source.address, rpc }];
  });
}

/**
 * Refuses a first block after a factory's first pool: state is built from events, so what happened before would be
 * missing permanently. The first pool's block is known from the index that serves; where that has no pool of the factory,
 * the node says whether it had pools before the first block. A node that does not keep such old state cannot: then
 * {@link refuseMissingPools} finds it before readers see the new index.
 *
 * @throws ConfigError that names the chain, its `fromBlock` and the factory
 */
export async function refuseLateStart(
  database: pg.Pool,
  served: string | null,
  chains: readonly FollowedFactories[],
): Promise<void> {
  for (const { chainId, startBlock, factories, rpc } of chains) {
    if (startBlock === 0) continue;
    for (const factory of factories) {
      const created = served === null ? null : (await firstPool(database, served, chainId, factory)).block;
      const hadPools = created === null && (await countPools(rpc, factory, startBlock - 1).catch(() => 0n)) > 0n;
      if (hadPools) throw lateStart(chainId, startBlock, factory, 'before it');
      if (created !== null && created < startBlock)
        throw lateStart(chainId, startBlock, factory, `in block ${created}`);
    }
  }
}

/**
 * Refuses an index that lacks the first pool of a factory, at the block up to which it is filled.
 *
 * @throws ConfigError as {@link refuseLateStart}; RpcFailure
 */
export async function refuseMissingPools(
  database: pg.Pool,
  schema: string,
  chains: readonly FollowedFactories[],
  filledTo: ReadonlyMap<number, number>,
): Promise<void> {
  for (const { chainId, startBlock, factories, rpc } of chains) {
    for (const factory of factories) {
      const { index } = await firstPool(database, schema, chainId, factory);
      const isMissing = index === null ? (await countPools(rpc, factory, filledTo.get(chainId) ?? 0)) > 0n : index > 1;
      if (isMissing) throw lateStart(chainId, startBlock, factory, 'before it');
    }
  }
}

/** Number and block of the first pool of a factory that an index has; null without one. */
async function firstPool(
  database: pg.Pool,
  schema: string,
  chainId: number,
  factory: Address,
): Promise<{ index: number | null; block: number | null }> {
  const { rows } = await database.query(
    `SELECT min(pool_idx)::float8 AS index, min(created_block_number)::float8 AS block
     FROM "${schema}".pool WHERE chain_id = $1 AND factory = $2`,
    [chainId, factory.toLowerCase()],
  );
  return rows[0];
}

/** Pools that a factory had created by the end of a block. */
async function countPools(rpc: ChainRpc, factory: Address, blockNumber: number): Promise<bigint> {
  const data = encodeFunctionData({ abi, functionName: 'nextPoolIdx' });
  const block = await rpc.blockAt(BigInt(blockNumber));
  return rpc.call({ to: factory, data, gas: CALL_GAS_CAP, block }, (result) =>
    // Before the factory was there, nothing answers.
    result === '0x' ? 0n : decodeFunctionResult({ abi, functionName: 'nextPoolIdx', data: result }) - 1n,
  );
}

function lateStart(chainId: number, startBlock: number, factory: Address, where: string): ConfigError {
  return new ConfigError(
    `CHAINS_CONFIG: fromBlock ${startBlock} of chain ${chainId} is too late: the first pool of factory ${factory} was ` +
      `created ${where}, and state is built from events`,
  );
}
