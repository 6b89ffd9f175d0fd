import type pg from 'pg';
import { type Address, zeroAddress } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { factoryFunctions } from '../../protocol/abi/factory.ts';
import { chainKey, contractSources } from '../deployments.ts';
import type { ChainNodes } from './chain-nodes.ts';

/** Number of a factory's first pool. */
const FIRST_POOL = 1n;

/** A chain's factories and the block from which they are followed. */
export type FollowedFactories = {
  readonly chainId: number;
  readonly startBlock: number;
  readonly factories: readonly Address[];
};

export function followedFactories(chains: readonly ChainConfig[]): FollowedFactories[] {
  const sources = contractSources(chains, ({ poolFactory }) => [poolFactory]);
  return chains.flatMap(({ chainId }) => {
    const source = sources[chainKey(chainId)];
    return source === undefined ? [] : [{ chainId, startBlock: source.startBlock, factories: source.address }];
  });
}

/**
 * Refuses a first block after a factory's first pool: state is built from events, so what happened before would be
 * missing for good. The pool's block is known from the index that serves; where that has no such pool, the node is asked
 * whether the pool had code before the first block. A node that does not keep such old state cannot tell: then
 * {@link refuseMissingPools} finds it before readers see the new index.
 *
 * @throws ConfigError that names the chain, its `fromBlock` and the pool
 */
export async function refuseLateStart(
  database: pg.Pool,
  served: string | null,
  chains: readonly FollowedFactories[],
  nodes: ChainNodes,
): Promise<void> {
  for (const { chainId, startBlock, factories } of chains) {
    if (startBlock === 0) continue;
    for (const factory of factories) {
      const pool = await firstPool(nodes, chainId, factory);
      if (pool === zeroAddress) continue;
      const known = served === null ? null : await createdBlock(database, served, chainId, pool);
      if (known === null ? await hadCode(nodes, chainId, pool, startBlock - 1) : known < startBlock) {
        throw lateStart(chainId, startBlock, factory, known === null ? 'before it' : `in block ${known}`);
      }
    }
  }
}

/**
 * Refuses an index that lacks the first pool of a factory, at the block up to which it is filled.
 *
 * @throws ConfigError as {@link refuseLateStart}
 */
export async function refuseMissingPools(
  database: pg.Pool,
  schema: string,
  chains: readonly FollowedFactories[],
  nodes: ChainNodes,
  filledTo: ReadonlyMap<number, number>,
): Promise<void> {
  const { rows } = await database.query<{ chain_id: string; factory: string; first: string }>(
    `SELECT chain_id, factory, min(pool_idx) AS first FROM "${schema}".pool GROUP BY chain_id, factory`,
  );
  const firsts = new Map(rows.map(({ chain_id, factory, first }) => [`${chain_id}:${factory}`, BigInt(first)]));
  for (const { chainId, startBlock, factories } of chains) {
    for (const factory of factories) {
      const first = firsts.get(`${chainId}:${factory}`) ?? (await nextPool(nodes, chainId, factory, filledTo));
      if (first > FIRST_POOL) throw lateStart(chainId, startBlock, factory, 'before it');
    }
  }
}

/** Zero while the factory has no pool. */
async function firstPool(nodes: ChainNodes, chainId: number, factory: Address): Promise<Address> {
  const call = { address: factory, abi: factoryFunctions, functionName: 'idxToPool', args: [FIRST_POOL] } as const;
  return nodes.ask(chainId, (client) => client.readContract(call));
}

/** The number that the next pool will have: above the first one's when there were pools. */
async function nextPool(
  nodes: ChainNodes,
  chainId: number,
  factory: Address,
  filledTo: ReadonlyMap<number, number>,
): Promise<bigint> {
  const blockNumber = BigInt(filledTo.get(chainId) ?? 0);
  const call = { address: factory, abi: factoryFunctions, functionName: 'nextPoolIdx', blockNumber } as const;
  return nodes.ask(chainId, (client) => client.readContract(call));
}

async function createdBlock(database: pg.Pool, schema: string, chainId: number, pool: Address): Promise<number | null> {
  const { rows } = await database.query<{ block: string }>(
    `SELECT created_block_number AS block FROM "${schema}".pool WHERE chain_id = $1 AND address = $2`,
    [chainId, pool.toLowerCase()],
  );
  return rows[0] === undefined ? null : Number(rows[0].block);
}

async function hadCode(nodes: ChainNodes, chainId: number, pool: Address, block: number): Promise<boolean> {
  try {
    const code = await nodes.ask(chainId, (client) => client.getCode({ address: pool, blockNumber: BigInt(block) }));
    return code !== undefined && code !== '0x';
  } catch {
    return false; // The node keeps no state that old.
  }
}

function lateStart(chainId: number, startBlock: number, factory: Address, where: string): ConfigError {
  return new ConfigError(
    `CHAINS_CONFIG: fromBlock ${startBlock} of chain ${chainId} is too late: the first pool of factory ${factory} was ` +
      `created ${where}, and state is built from events`,
  );
}
