import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { MAX_READ_GAS, type ReadOutcome } from '../../chain/read-schedule/read-scheduler.ts';
import { isBlockRefusal } from '../../chain/rpc-failure.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { BoundedAnswer, BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { LiveBlock, LiveBlocks } from '../../quoting/live/live-blocks.ts';
import { type LiveAnswer, type RunCalls, readLiveCalls } from '../../quoting/live/live-calls.ts';
import { isNewer } from '../read-schedule/is-newer.ts';
import type { CaptureClass, KnownPool } from '../read-schedule/pool-values.ts';
import {
  createPoolReads,
  gasUsedBy,
  type PoolResults,
  type PoolSchedule,
  runWithinBudget,
} from '../read-schedule/read-due-pools.ts';
import type { OnRead } from '../read-schedule/read-gauges.ts';
import type { ClosedSides } from './closed-sides.ts';
import { type PoolPrice, poolPriceCalls, readPoolPrice } from './pool-price.ts';

export type PriceCaptureDeps = PoolSchedule & {
  readonly database: pg.Pool;
  /** Sides that guards close, and sides whose tokens do not move. */
  readonly closed: readonly ReadonlyMap<Address, ClosedSides>[];
  /** Absent on a chain without a source of live prices. */
  readonly live?: LiveBlocks | undefined;
  readonly onRead?: OnRead | undefined;
  readonly logUnknown: LogUnknownError;
};

/** Reads the prices of the due pools of a class. @returns number of pools read */
export type CapturePrices = (kind: CaptureClass) => Promise<number>;

/** The answer of a call at a committed block, and the block that was being built on it; null without one. */
type PriceAnswer = BoundedAnswer & { readonly head: LiveBlock | null };
type PriceResults = PoolResults<KnownPool, PriceAnswer> & { readonly committed: PoolPrice };

/**
 * Makes a function that reads prices and token balances of the pools of a chain, as far as the budget allows. It stores
 * them with the status, block and time. A run throws errors of the node or the database; what was stored before stays,
 * and becomes stale.
 *
 * A pool without a price at the committed head is also read in the block that is being built: with a live price, it has
 * the status and prices of that. So are funded pools, of which is stored whether they trade there.
 *
 * This is not the reader of quotes (`quoting/reads/pool-reader.ts`), which reads listed pools, and makes three calls where
 * this makes one: storage, provider quotes and transfers are for depth. Guards and tokens are probed on schedules of their
 * own, of all pools. The calls are those of quotes (`quoting/calls/probe-calls.ts`), and so is how the block being built is
 * read (`quoting/live/live-calls.ts`).
 */
export function createPriceCapture(deps: PriceCaptureDeps): CapturePrices {
  const { database, chainId, budget, rpcs, live, onRead } = deps;
  return createPoolReads(
    deps,
    async (pools) => {
      // The other pools were undone by a reorganisation, or their deployment was disabled.
      await deleteOtherPoolsOf(database, priceHealth, chainId, pools);
      return pools;
    },
    (kind) => {
      const target = { rpc: rpcs[kind], chainId };
      const readAt = async (block: BlockRef | 'latest', calls: readonly BoundedCall[], head: LiveBlock | null) => ({
        ...(await boundedCallsOnce(target, { block }, calls)),
        head,
      });
      return {
        callsOf,
        send: async (calls): Promise<PriceAnswer> => {
          const head = await live?.now();
          if (!head) return readAt('latest', calls, null);
          const { pending: _, ...committed } = head.block;
          try {
            return await readAt(committed, calls, head);
          } catch (error) {
            // Where nodes refuse the block below the one that is being built, the latest block is read alone.
            if (!isBlockRefusal(error) || !budget.reserve(kind)) throw error;
            live?.heads.reject(head);
            return readAt('latest', calls, null);
          }
        },
        store: async (results) => {
          const read = results.map((each) => ({ ...each, committed: readPrice(each.pool, each.results, deps) }));
          const also = read.filter(({ pool, committed }) => committed.status === 'feed_down' || pool.isFunded);
          const head = read[0]?.answer.head;
          const run: RunCalls = (block, groups) =>
            runWithinBudget(kind, groups, { budget, send: (calls) => boundedCallsOnce(target, { block }, calls) });
          const found =
            head && live ? await readLiveCalls({ heads: live.heads, run }, head, also.map(livePriceCalls)) : [];
          const liveReads = new Map(also.map(({ pool }, index) => [pool.address, found[index]]));
          return storePrices(deps, read, liveReads);
        },
      };
    },
    (kind, backlog) => onRead?.(chainId, kind, backlog, budget),
  );
}

/** Gives the calls of a pool. Calls are isolated, so that no pool can affect the read of another. */
const callsOf = (pool: KnownPool) => [
  ...poolPriceCalls(pool),
  balanceCall(pool.token0, pool.address),
  balanceCall(pool.token1, pool.address),
];

/** The calls in the block being built. Plans the gas that a pool burned at the committed head, where it is more than usual. */
function livePriceCalls({ pool, results: [price] }: PriceResults): BoundedCall[] {
  const [priceCall, ...others] = poolPriceCalls(pool);
  if (!priceCall) return others;
  return [{ ...priceCall, likelyGas: Math.max(priceCall.likelyGas, price?.gasUsed ?? 0) }, ...others];
}

function readPrice(
  { address, layout }: KnownPool,
  results: PriceResults['results'],
  { closed }: Pick<PriceCaptureDeps, 'closed'>,
): PoolPrice {
  const isClosed = (side: keyof ClosedSides) => closed.some((sides) => sides.get(address)?.[side]);
  return readPoolPrice(results, layoutAdapter(layout), { bids: isClosed('bids'), asks: isClosed('asks') });
}

/** Stores the prices of pools. @returns the outcome of each; null where what was stored before stays */
async function storePrices(
  deps: PriceCaptureDeps,
  read: readonly PriceResults[],
  liveReads: ReadonlyMap<Address, LiveAnswer | undefined>,
): Promise<(ReadOutcome | null)[]> {
  const rows = read.map((each) => {
    const { pool, results, answer } = each;
    const [price, , balance0, balance1] = results;
    deps.logUnknown(pool.address, price);
    const shown = shownPrice(deps, each, liveReads.get(pool.address));
    if (!shown) return null;
    const { status, sellX64, buyX64, ...basis } = shown;
    return {
      chainId: deps.chainId,
      pool: pool.address,
      status,
      sellPriceX64: sellX64,
      buyPriceX64: buyX64,
      ...basis,
      blockNumber: Number(answer.blockNumber),
      blockTimestamp: Number(answer.blockTimestamp),
      balance0Raw: readBalance(balance0),
      balance1Raw: readBalance(balance1),
      isFunded: pool.isFunded,
    };
  });
  const known = rows.filter((row) => row !== null);
  await upsertRows(deps.database, priceHealth, known, {
    key: ['chainId', 'pool'],
    computed: { capturedAt: sql`now()` },
    evenIfSame: true,
    keepIf: isNewer(priceHealth),
  });
  return rows.map((row, index) => {
    if (!row) return null;
    const gas = gasUsedBy(liveReads.get(read[index]?.pool.address as Address)?.ran ?? []);
    // What is usual is left out: calls at the committed head are packed by this.
    return { gas: gas > MAX_READ_GAS ? gas : 0, isFailed: row.sellPriceX64 === null };
  });
}

/**
 * Gives the price of a pool by the rule of quotes. Null when it has none at the committed head, and could not be read in
 * the block that is being built: what was stored before stays.
 */
function shownPrice(deps: PriceCaptureDeps, read: PriceResults, liveRead: LiveAnswer | undefined) {
  const committed = { ...read.committed, basis: 'committed' as const };
  // Without a block that is being built, no pool has a live price.
  if (!read.answer.head) return { ...committed, tradesLive: deps.live ? false : null };
  if (!liveRead) return committed.status === 'feed_down' ? null : { ...committed, tradesLive: null };
  const { results } = liveRead;
  const live = results && { ...readPrice(read.pool, results, deps), basis: 'live' as const };
  const tradesLive = live?.status === 'healthy';
  return { ...(live && committed.status === 'feed_down' ? live : committed), tradesLive };
}
