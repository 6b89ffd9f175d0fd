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
import type { LiveBlock, PriceBlocks } from '../../quoting/live/live-blocks.ts';
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
  readonly live?: PriceBlocks | undefined;
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
 *
 * @param closed what is known before the first probe
 */
export function createGuardProbe(deps: GuardProbeDeps, closed = new Map<Address, ClosedSides>()): SideProbe {
  const { live } = deps;
  let stubCode: CodeOverrides = new Map();
  const takePools = async (pools: readonly GuardedPool[]) => {
    // The provider is that of the pool's storage, or one that can never be changed.
    stubCode = stubs(pools, ({ priceProvider }) => priceProvider);
    keepPools(closed, pools);
    return pools;
  };
  const run = createPoolReads(deps, takePools, (kind) => {
    const probe = { ...deps, kind, closed, stubCode: () => stubCode };
    return {
      callsOf: (pool) => [providerQuoteCall(pool)],
      send: quoteAt(probe, 'latest'),
      store: async (quoted) => {
        const down = quoted.filter(({ results: [quote] }) => !quote?.success);
        const head = down.length > 0 ? await live?.now() : null;
        const up = head ? quoted.filter((each) => !down.includes(each)) : quoted;
        const atHead = await probeAt(probe, 'latest', up);
        const inBlock = () => (head ? probeLive(probe, head, down) : Promise.resolve([]));
        const beingBuilt = live && head ? await tryLive(live.heads, head, inBlock, () => []) : [];
        const outcomes = new Map([...atHead, ...beingBuilt]);
        // Of a pool that was not probed, the last note stays.
        return quoted.map(({ pool }) => outcomes.get(pool.address) ?? null);
      },
    };
  });
  return { run, closed };
}

/** A run of probes of one kind. */
interface ProbeRun extends GuardProbeDeps {
  readonly kind: keyof GuardProbeDeps['rpcs'];
  readonly closed: Map<Address, ClosedSides>;
  readonly stubCode: () => CodeOverrides;
}

type SendCalls = (calls: readonly BoundedCall[]) => Promise<BoundedAnswer>;

const sendAt =
  ({ rpcs, kind, chainId }: ProbeRun, block: BlockRef | 'latest', code?: CodeOverrides): SendCalls =>
  (calls) =>
    boundedCallsOnce({ rpc: rpcs[kind], chainId }, { block, code }, calls);

/** Reads quotes of providers, each called by its pool. */
const quoteAt =
  (run: ProbeRun, block: BlockRef | 'latest'): SendCalls =>
  (calls) =>
    sendAt(run, block, new Map(calls.map(({ target: pool }) => [pool, run.stubCode().get(pool) ?? '0x'])))(calls);

/** Simulates the swaps of pools at the block of their quotes, and notes what guards reject. */
async function probeAt(
  run: ProbeRun,
  block: BlockRef | 'latest',
  quoted: readonly QuotedPool[],
): Promise<readonly Outcome[]> {
  const groups = quoted.map(({ pool, results: [quote] }) => unitSwapCalls(pool, quote, pool.isKnown));
  const isQuoted = groups.some((swaps) => swaps.length > 0);
  const { kind, budget } = run;
  const answers = isQuoted ? await runWithinBudget(kind, groups, { budget, send: sendAt(run, block) }) : [];
  return quoted.map(({ pool }, index) => [
    pool.address,
    noteProbe(pool, answers[index] ?? null, groups[index]?.length, run),
  ]);
}

/** Probes pools in the block that is being built. */
async function probeLive(run: ProbeRun, head: LiveBlock, down: readonly QuotedPool[]): Promise<readonly Outcome[]> {
  const groups = down.map(({ pool }) => [providerQuoteCall(pool)]);
  const { kind, budget } = run;
  const quotes = await runWithinBudget(kind, groups, { budget, send: quoteAt(run, head.block) });
  const quoted = down.flatMap(({ pool }, index) => {
    const results = quotes[index]?.results;
    return results ? [{ pool, results }] : [];
  });
  return probeAt(run, head.block, quoted);
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
