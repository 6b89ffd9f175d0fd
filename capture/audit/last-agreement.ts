import { type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { DueSubject } from './audit-rows.ts';
import { poolCalls, readChainFacts } from './chain-facts.ts';
import type { FactName, IndexedFacts } from './facts.ts';

/** Facts that are sums of what events changed, so that the index knows them at earlier blocks. */
const SUMS = ['binBalances0', 'binBalances1', 'shares', 'accruedNotionalFees'] as const;
/** Facts that differ because those do. */
const CONSEQUENCES: readonly string[] = ['cursor', 'totals'];
/** More changes since both agreed are not looked at. */
const MAX_CHANGES = 5_000;

/** What an event changed, scaled. The bin is null where it changed none, fees are null when they were collected. */
export interface Change {
  readonly block: number;
  readonly bin: number | null;
  readonly token0: string;
  readonly token1: string;
  readonly shares: string;
  readonly fee0: string | null;
  readonly fee1: string | null;
}

type AuditedPool = DueSubject & { readonly kind: 'pool' };

const changesSince = loadStatement<Change>('./changes-since.sql', import.meta.url);

/**
 * Finds the last block at which the index of a pool was what the chain held, by halving the blocks since both agreed.
 * Nothing is found out where a fact differs that is not a sum of events, after {@link MAX_CHANGES},
 * and at blocks of which no node has the state.
 *
 * @param pool which differs at its block
 * @param agreedBlock at which both agreed
 * @param maxReads of states of the chain, each of two requests
 * @returns the block, `agreedBlock` or a later one, and how many states were read
 * @throws an error of Postgres
 */
export async function findLastAgreement(
  {
    database,
    target,
    schema,
  }: { readonly database: Queryable; readonly target: MulticallTarget; readonly schema: string },
  pool: AuditedPool,
  { differences, agreedBlock }: { readonly differences: readonly string[]; readonly agreedBlock: number },
  maxReads: number,
): Promise<{ readonly block: number; readonly reads: number }> {
  const isSum = (name: string) => SUMS.some((each) => each === name);
  if (!differences.some(isSum) || differences.some((name) => !isSum(name) && !CONSEQUENCES.includes(name)))
    return { block: agreedBlock, reads: 0 };
  const values = [target.chainId, pool.address, agreedBlock, pool.block, MAX_CHANGES + 1];
  const changes = await changesSince(database, values, { schema });
  if (changes.length > MAX_CHANGES || changes.some(({ fee0 }) => fee0 === null))
    return { block: agreedBlock, reads: 0 };
  let [agreed, differs, reads] = [agreedBlock, pool.block, 0];
  while (differs - agreed > 1 && reads < maxReads) {
    const block = Math.floor((agreed + differs) / 2);
    reads += 1;
    const stored = await readStored(target, pool, block);
    if (stored === null) break;
    const indexed = sumsAt(
      pool.facts,
      changes.filter((change) => change.block > block),
      pool.lowestBin,
    );
    if (SUMS.every((name) => indexed[name] === undefined || indexed[name] === stored[name])) agreed = block;
    else differs = block;
  }
  return { block: agreed, reads };
}

/** Null where no node has the state of the block. */
async function readStored(target: MulticallTarget, pool: AuditedPool, block: number) {
  try {
    const header = await target.rpc.blockAt(BigInt(block));
    const [results = []] = await multicall(target, { block: header }, [poolCalls(pool).slice(0, 1)]);
    const facts = readChainFacts(pool, results);
    return facts.shares === undefined ? null : facts;
  } catch (error) {
    if (error instanceof RpcFailure) return null;
    throw error;
  }
}

/** What facts were before some changes. */
export function sumsAt(
  facts: IndexedFacts,
  undone: readonly Change[],
  lowestBin: number,
): { readonly [Name in FactName]?: string } {
  const without = (name: 'binBalances0' | 'binBalances1' | 'shares', amountOf: (change: Change) => string) => {
    const bins = (facts[name]?.value ?? '').split(',').map(BigInt);
    for (const change of undone) {
      const place = (change.bin ?? Number.NaN) - lowestBin;
      const held = bins[place];
      if (held !== undefined) bins[place] = held - BigInt(amountOf(change));
    }
    return bins.join();
  };
  const sums = {
    binBalances0: without('binBalances0', ({ token0 }) => token0),
    binBalances1: without('binBalances1', ({ token1 }) => token1),
    shares: without('shares', ({ shares }) => shares),
  };
  if (facts.accruedNotionalFees === undefined) return sums;
  const [fees0 = 0n, fees1 = 0n] = facts.accruedNotionalFees.value.split(' ').map(BigInt);
  const paid = (feeOf: (change: Change) => string | null) =>
    undone.reduce((sum, change) => sum + BigInt(feeOf(change) ?? 0), 0n);
  const accruedNotionalFees = [fees0 - paid(({ fee0 }) => fee0), fees1 - paid(({ fee1 }) => fee1)].join(' ');
  return { ...sums, accruedNotionalFees };
}
