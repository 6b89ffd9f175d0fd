import type { Address, Hex } from 'viem';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import type { ReadOutcome } from '../../chain/read-schedule/read-scheduler.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALL_GAS_CAP,
  CALLER,
} from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GroupAnswer } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { CaptureClass } from '../read-schedule/pool-values.ts';
import {
  createPoolReads,
  gasUsedBy,
  type PoolResults,
  type PoolSchedule,
  runWithinBudget,
} from '../read-schedule/read-due-pools.ts';
import type { GuardedPool } from './guarded-pools.ts';
import type { ClosedSides } from './pool-price.ts';

export type GuardProbeDeps = PoolSchedule<GuardedPool> & {
  /** Sides that guards closed at the last probe. Each probe updates it. */
  readonly closed: Map<Address, ClosedSides>;
  readonly logUnknown: LogUnknownError;
};

/** Bounds of a quote through the stub, which itself holds gas back, and of a simulated swap of the smallest amount. */
const QUOTE = { likelyGas: 200_000, gasLimit: 5_800_000, keptBytes: 96 };
const UNIT_SWAP = { likelyGas: 240_000, unknownGasLimit: 3_260_000, keptBytes: 4 };
const SIDES = 2;

/** Probes the guards of the due pools of a class. @returns number of pools whose provider was called */
export type ProbeGuards = (kind: CaptureClass) => Promise<number>;

/**
 * Makes a probe that finds the sides on which guards reject an output of one unit, as quotes do. It reads the
 * provider's quote under a state override, then simulates that swap of each side with the quote. It finds nothing on
 * nodes without overrides.
 */
export function createGuardProbe(deps: GuardProbeDeps): ProbeGuards {
  const { chainId, budget, rpcs, closed } = deps;
  let stubs: ReadonlyMap<Address, Hex> = new Map();
  const takePools = async (pools: readonly GuardedPool[]) => {
    stubs = new Map(pools.map((pool) => [pool.address, stubOf(pool)]));
    for (const address of closed.keys()) if (!stubs.has(address)) closed.delete(address);
    return pools;
  };
  return createPoolReads(deps, takePools, (kind) => {
    const target = { rpc: rpcs[kind], chainId };
    return {
      callsOf: ({ address, layout }) => [
        { target: address, data: layoutAdapter(layout).prices.providerQuoteCall, ...QUOTE },
      ],
      send: (calls) => {
        const overrides = new Map(calls.map(({ target: pool }) => [pool, stubs.get(pool) ?? '0x']));
        return boundedCallsOnce(target, 'latest', calls, undefined, CALL_GAS_CAP, overrides);
      },
      store: async (quoted) => {
        const groups = quoted.map(unitSwaps);
        const send = (calls: readonly BoundedCall[]) => boundedCallsOnce(target, 'latest', calls);
        const isQuoted = groups.some((swaps) => swaps.length > 0);
        const answers = isQuoted ? await runWithinBudget(kind, groups, { budget, send }) : [];
        return quoted.map(({ pool }, index) => noteProbe(pool, answers[index] ?? null, groups[index]?.length, deps));
      },
    };
  });
}

/**
 * Notes which sides guards close. Without swaps to simulate nothing is known; without an answer the last note stays.
 */
function noteProbe(
  { address, layout, isKnown }: GuardedPool,
  answer: GroupAnswer | null,
  swaps: number | undefined,
  { closed, logUnknown }: GuardProbeDeps,
): ReadOutcome {
  if (!swaps) {
    closed.delete(address);
    return { gas: 0, isFailed: true };
  }
  if (!answer) return { gas: 0, isFailed: false };
  // An unknown extension may revert with anything.
  if (isKnown) for (const result of answer.results) logUnknown(address, result);
  const { isRejected, gasLimit } = layoutAdapter(layout).unitSwaps;
  const bids = isRejected(answer.results.slice(0, swaps / SIDES));
  const asks = isRejected(answer.results.slice(swaps / SIDES));
  if (bids || asks) closed.set(address, { bids, asks });
  else closed.delete(address);
  // The gas that a unit swap needs by itself does not count.
  return { gas: Math.max(0, gasUsedBy(answer.results) - SIDES * gasLimit), isFailed: false };
}

/** Gives the stub of a pool's provider, which is that of the pool's storage, or one that can never be changed. */
const stubOf = ({ layout, priceProvider }: GuardedPool) => layoutAdapter(layout).prices.providerStubCode(priceProvider);

/** Gives the swaps to simulate: those of the bids, then as many of the asks; none without a quote. */
function unitSwaps({
  pool: { address, layout, isKnown },
  results: [quote],
}: PoolResults<GuardedPool, BoundedAnswer>): BoundedCall[] {
  const { calls, gasLimit } = layoutAdapter(layout).unitSwaps;
  const swaps = quote?.success ? calls(quote, CALLER) : null;
  if (!swaps) return [];
  const { likelyGas, unknownGasLimit, keptBytes } = UNIT_SWAP;
  const bounds = { likelyGas, gasLimit: isKnown ? gasLimit : Math.max(gasLimit, unknownGasLimit), keptBytes };
  return [...swaps.bids, ...swaps.asks].map((data) => ({ target: address, data, ...bounds }));
}
