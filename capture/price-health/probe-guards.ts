import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import type { ReadBudget, ReadClass } from '../../chain/read-budget/read-budget.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALLER,
  type CallResult,
} from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { type PoolOutcome, PoolSchedule } from '../attention/pool-schedule.ts';
import { type PoolReading, paidCalls, readRound } from '../attention/read-round.ts';
import type { GuardedPool } from './guarded-pools.ts';

export type GuardProbeDeps = {
  readonly chain: ChainConfig;
  readonly budget: ReadBudget;
  readonly rpcs: Readonly<Record<ReadClass, ChainRpc>>;
  readonly pools: () => Promise<readonly GuardedPool[]>;
  /** Pools that clients asked for lately. */
  readonly wanted: () => Promise<ReadonlySet<Address>>;
  /** Kept: pools of which guards closed both sides at the last probe. */
  readonly closed: Set<Address>;
  readonly now: Clock;
  readonly logUnknown: LogUnknownError;
};

/** A quote through the stub, which keeps back gas of its own, and a simulated swap of the smallest amount. */
const QUOTE = { likelyGas: 200_000, gasLimit: 5_800_000, keptBytes: 96 };
const UNIT_SWAP = { likelyGas: 240_000, unknownGasLimit: 3_260_000, keptBytes: 4 };
const SIDES = 2;
const NOTHING_TOLD: PoolOutcome = { gas: 0, isFailed: true };

/** Probes the guards of pools of these classes whose turn it is. @returns number of pools whose provider was asked */
export type ProbeGuards = (kinds: readonly ReadClass[]) => Promise<number>;

/**
 * Finds the pools of which guards reject an output of one unit on both sides, as quotes find it: the provider's quote is read
 * under a state override, then that swap of each side is simulated with it. On nodes without overrides nothing is found.
 */
export function createGuardProbe(deps: GuardProbeDeps): ProbeGuards {
  const { chain, budget, rpcs, closed, now, logUnknown } = deps;
  const { callsAtOnce } = chain.readBudget;
  const target = (kind: ReadClass) => ({ rpc: rpcs[kind], chainId: chain.chainId });
  const schedule = new PoolSchedule<GuardedPool>(chain.readBudget, now);
  let known: readonly GuardedPool[] = [];

  const simulate = (kind: ReadClass, groups: readonly (readonly BoundedCall[])[]) =>
    paidCalls(kind, groups, {
      budget,
      send: (_, calls, gas) => boundedCallsOnce(target(kind), 'latest', calls, undefined, gas),
    });

  const probe = async (readings: readonly PoolReading<GuardedPool, BoundedAnswer>[], kind: ReadClass) => {
    const probes = readings.map(({ pool, results }) => probeOf(pool, results[0]));
    const asked = probes.filter((calls) => calls !== null);
    const answers = await simulate(
      kind,
      asked.map(({ bids, asks }) => [...bids, ...asks]),
    );
    return probes.map((calls, index): PoolOutcome => {
      const { address, layout, isKnown } = (readings[index] as (typeof readings)[number]).pool;
      if (!calls) {
        closed.delete(address);
        return NOTHING_TOLD;
      }
      const answer = answers.shift();
      if (!answer) return { gas: 0, isFailed: false };
      // An unknown extension may revert with anything.
      if (isKnown) for (const result of answer.results) logUnknown(address, result);
      const { isRefused, gasLimit } = layoutAdapter(layout).unitSwaps;
      const bids = answer.results.slice(0, calls.bids.length);
      if (isRefused(bids) && isRefused(answer.results.slice(calls.bids.length))) closed.add(address);
      else closed.delete(address);
      const gas = answer.results.reduce((sum, { gasUsed }) => sum + gasUsed, 0);
      // What a swap takes by itself burns nothing.
      return { gas: Math.max(0, gas - SIDES * gasLimit), isFailed: false };
    });
  };

  return async (kinds) => {
    const begun = now();
    const pools = await deps.pools();
    schedule.setWanted(await deps.wanted());
    if (pools !== known) {
      known = pools;
      schedule.setPools(pools);
      const guarded = new Set(pools.map(({ address }) => address));
      for (const address of closed) if (!guarded.has(address)) closed.delete(address);
    }
    const stubs = new Map(pools.map((pool) => [pool.address, stubOf(pool)]));
    return readRound(kinds, begun, {
      schedule,
      budget,
      callsAtOnce,
      store: probe,
      callsOf: ({ address, layout }) => [
        { target: address, data: layoutAdapter(layout).prices.providerQuoteCall, ...QUOTE },
      ],
      send: (kind, calls, gas) => {
        const overrides = new Map(calls.map(({ target: pool }) => [pool, stubs.get(pool) ?? '0x']));
        return boundedCallsOnce(target(kind), 'latest', calls, undefined, gas, overrides);
      },
    });
  };
}

/** The provider is that of the pool's storage, or the one that can never be changed. */
const stubOf = ({ layout, priceProvider }: GuardedPool) => layoutAdapter(layout).prices.providerStubCode(priceProvider);

/** The simulated swaps of both sides; null without a quote. */
function probeOf({ address, layout, isKnown }: GuardedPool, quote: CallResult | undefined) {
  const { calls, gasLimit } = layoutAdapter(layout).unitSwaps;
  const swaps = quote?.success ? calls(quote, CALLER) : null;
  if (!swaps) return null;
  const { likelyGas, unknownGasLimit, keptBytes } = UNIT_SWAP;
  const bounds = { likelyGas, gasLimit: isKnown ? gasLimit : Math.max(gasLimit, unknownGasLimit), keptBytes };
  const simulated = (data: (typeof swaps.bids)[number]): BoundedCall => ({ target: address, data, ...bounds });
  return { bids: swaps.bids.map(simulated), asks: swaps.asks.map(simulated) };
}
