import type pg from 'pg';
import type { Address, Hex } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { loadStatement } from '../../db/load-statement.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { fillCalls, providerQuoteCall, stubs } from '../../quoting/calls/probe-calls.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

export interface FillDeps {
  readonly database: pg.Pool;
  readonly chainId: number;
  /** Its requests wait for the read budget. */
  readonly rpc: ChainRpc;
  /** Whether the budget has calls that price reads do not need soon. Without, blocks wait and may become too old. */
  readonly hasSpareCalls: () => boolean;
  readonly pools: () => Promise<readonly KnownPool[]>;
}

/** A swap that is compared with a quote. Nothing happened to its pool earlier in its block. */
interface Swap {
  readonly blockNumber: string;
  readonly logIndex: number;
  readonly transactionHash: Hex;
  readonly pool: Address;
  readonly blockTimestamp: string;
  readonly zeroForOne: boolean;
  readonly inRaw: string;
}

const swapsToCompare = loadStatement<Swap>('./swaps-to-compare.sql', import.meta.url);
const insertFills = loadStatement('./insert-fills.sql', import.meta.url);
const blocksToConfirm = loadStatement<Pick<Swap, 'blockNumber'>>('./blocks-to-confirm.sql', import.meta.url);
const confirmFills = loadStatement('./confirm-fills.sql', import.meta.url);

/**
 * Records for recent swaps what their funded pools quoted at the end of the block before, and which recorded quotes
 * became final. A swap whose block is not read in time stays unknown.
 *
 * @returns number of swaps recorded
 * @throws RpcFailure or an error of Postgres: earlier blocks are recorded, and the next run reads the rest
 */
export async function recordFills(deps: FillDeps): Promise<number> {
  const { database, chainId } = deps;
  const funded = new Map((await deps.pools()).filter(({ isFunded }) => isFunded).map((pool) => [pool.address, pool]));
  const rows = await swapsToCompare(database, [chainId, [...funded.keys()]]);
  const byBlock = Map.groupBy(rows, ({ blockNumber }) => blockNumber);
  let recorded = 0;
  for (const [number, swaps] of byBlock) {
    if (!deps.hasSpareCalls()) break;
    const parent = await deps.rpc.blockAt(BigInt(number) - 1n);
    const quoted = await quotedOutputs(deps, parent, swaps, funded);
    const rowsOfBlock = swaps.map((swap, index) => ({ ...swap, quotedOutRaw: quoted[index]?.toString() ?? null }));
    await insertFills(database, [chainId, parent.hash, JSON.stringify(rowsOfBlock)]);
    recorded += swaps.length;
  }
  await confirmParents(deps);
  return recorded;
}

/** Quotes the output of each swap at the parent block; null where a pool, its provider or the node gives no quote. */
async function quotedOutputs(
  { rpc, chainId }: FillDeps,
  parent: BlockRef,
  swaps: readonly Swap[],
  pools: ReadonlyMap<Address, KnownPool>,
): Promise<(bigint | null)[]> {
  const target = { rpc, chainId };
  const known = swaps.flatMap((swap) => pools.get(swap.pool) ?? []);
  const code = stubs(known, ({ priceProvider }) => priceProvider);
  const quoteCalls = known.map((pool) => [providerQuoteCall(pool)]);
  const { isApplied, answers: quotes } = await boundedCalls(target, { block: parent, code }, quoteCalls);
  const swapCalls = swaps.map(({ pool: address, zeroForOne, inRaw }, index) => {
    const [quote] = quotes[index]?.results ?? [];
    const pool = pools.get(address);
    return isApplied && quote && pool ? fillCalls(pool, quote, { zeroForOne, input: BigInt(inRaw) }) : [];
  });
  if (swapCalls.every((calls) => calls.length === 0)) return swaps.map(() => null);
  const { answers } = await boundedCalls(target, { block: parent }, swapCalls);
  return swaps.map(({ pool, zeroForOne, inRaw }, index) => {
    const layout = pools.get(pool)?.layout;
    const results = answers[index]?.results;
    if (!results || layout === undefined) return null;
    return layoutAdapter(layout).fills.output(results, zeroForOne, BigInt(inRaw));
  });
}

/** Once a swap's block is final, marks its quote as final, or removes a quote that was read at a block later undone. */
async function confirmParents({ database, chainId, rpc, hasSpareCalls }: FillDeps): Promise<void> {
  for (const { blockNumber } of await blocksToConfirm(database, [chainId])) {
    if (!hasSpareCalls()) break;
    const { hash } = await rpc.blockAt(BigInt(blockNumber) - 1n);
    await confirmFills(database, [chainId, blockNumber, hash]);
  }
}
