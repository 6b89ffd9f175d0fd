import type { Address } from 'viem';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import type { BlockRef, CodeOverrides } from '../../chain/read-context.ts';
import type { ReadOutcome } from '../../chain/read-schedule/read-scheduler.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { BoundedAnswer, BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GroupAnswer } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import { providerQuoteCall, stubs, unitSwapCalls } from '../../quoting/calls/probe-calls.ts';
import type { LiveBlock, LiveBlocks } from '../../quoting/live/live-blocks.ts';
import { tryLive } from '../../quoting/live/live-calls.ts';
import {
  createPoolReads,
  gasUsedBy,
  type PoolResults,
  type PoolSchedule,
  runWithinBudget,
} from '../read-schedule/read-due-pools.ts';
import { keepPools, noteSides, type SideProbe } from './closed-sides.ts';
import type { GuardedPool } from './guarded-pools.ts';

export type GuardProbeDeps = PoolSchedule<GuardedPool> & {
  /** Absent on a chain without a source of live prices. */
  readonly live?: Pick<LiveBlocks, 'now' | 'heads'> | undefined;
  readonly logUnknown: LogUnknownError;
};

const SIDES = 2;

type QuotedPool = Pick<PoolResults<GuardedPool, BoundedAnswer>, 'pool' | 'results'>;
type Outcome = readonly [pool: Address, outcome: ReadOutcome | null];

/**
 * Makes a probe that finds the sides on which guards reject an output of one unit, as quotes do. It reads the
 * provider's quote under a state override, then simulates that swap of each side with the quote. It finds nothing on
 * nodes without overrides. A pool without a quote at the head is probed in the block that is being built, if it has one
 * there.
 *
 * The probers of quotes (`quoting/guards`) follow whole sides, of pools with a curve:
 * here one unit of each side is tried, of all pools.
 */
export function createGuardProbe(deps: GuardProbeDeps): SideProbe {
  const { chainId, budget, rpcs, live } = deps;
  const closed = new Map<Address, ClosedSides>();
  let stubCode: CodeOverrides = new Map();
  const takePools = async (pools: readonly GuardedPool[]) => {
    // The provider is that of the pool's storage, or one that can never be changed.
    stubCode = stubs(pools, ({ priceProvider }) => priceProvider);
    keepPools(closed, pools);
    return pools;
  };
  const run = createPoolReads(deps, takePools, (kind) => {
    const sendAt = (block: BlockRef | 'latest', code?: CodeOverrides) => (calls: readonly BoundedCall[]) =>
      boundedCallsOnce({ rpc: rpcs[kind], chainId }, { block, code }, calls);
    const quoteAt = (block: BlockRef | 'latest') => (calls: readonly BoundedCall[]) =>
      sendAt(block, new Map(calls.map(({ target: pool }) => [pool, stubCode.get(pool) ?? '0x'])))(calls);
    /** Simulates the swaps of pools at the block of their quotes, and notes what guards reject. */
    const probeAt = async (block: BlockRef | 'latest', quoted: readonly QuotedPool[]): Promise<Outcome[]> => {
      const groups = quoted.map(({ pool, results: [quote] }) => unitSwapCalls(pool, quote, pool.isKnown));
      const isQuoted = groups.some((swaps) => swaps.length > 0);
      const answers = isQuoted ? await runWithinBudget(kind, groups, { budget, send: sendAt(block) }) : [];
      return quoted.map(({ pool }, index) => [
        pool.address,
        noteProbe(pool, answers[index] ?? null, groups[index]?.length, { ...deps, closed }),
      ]);
    };
    const probeLive = async (head: LiveBlock, down: readonly QuotedPool[]): Promise<Outcome[]> => {
      const groups = down.map(({ pool }) => [providerQuoteCall(pool)]);
      const quotes = await runWithinBudget(kind, groups, { budget, send: quoteAt(head.block) });
      return probeAt(
        head.block,
        down.flatMap(({ pool }, index) => {
          const results = quotes[index]?.results;
          return results ? [{ pool, results }] : [];
        }),
      );
    };
    return {
      callsOf: (pool) => [providerQuoteCall(pool)],
      send: quoteAt('latest'),
      store: async (quoted) => {
        const down = quoted.filter(({ results: [quote] }) => !quote?.success);
        const head = down.length > 0 ? await live?.now() : null;
        const up = head ? quoted.filter((each) => !down.includes(each)) : quoted;
        const atHead = await probeAt('latest', up);
        const beingBuilt =
          live && head
            ? await tryLive(
                live.heads,
                head,
                () => probeLive(head, down),
                () => [],
              )
            : [];
        const outcomes = new Map([...atHead, ...beingBuilt]);
        // Of a pool that was not probed, the last note stays.
        return quoted.map(({ pool }) => outcomes.get(pool.address) ?? null);
      },
    };
  });
  return { run, closed };
}

/**
 * Notes which sides guards close. Without swaps to simulate nothing is known; without an answer the last note stays.
 */
function noteProbe(
  { address, layout, isKnown }: GuardedPool,
  answer: GroupAnswer | null,
  swaps: number | undefined,
  { closed, logUnknown }: Pick<GuardProbeDeps, 'logUnknown'> & { readonly closed: Map<Address, ClosedSides> },
): ReadOutcome | null {
  if (!swaps) {
    closed.delete(address);
    return { gas: 0, isFailed: true };
  }
  if (!answer) return null;
  // An unknown extension may revert with anything.
  if (isKnown) for (const result of answer.results) logUnknown(address, result);
  const { isRejected, gasLimit } = layoutAdapter(layout).unitSwaps;
  const bids = isRejected(answer.results.slice(0, swaps / SIDES));
  const asks = isRejected(answer.results.slice(swaps / SIDES));
  noteSides(closed, address, { bids, asks });
  // The gas that a unit swap needs by itself does not count.
  return { gas: Math.max(0, gasUsedBy(answer.results) - SIDES * gasLimit), isFailed: false };
}
