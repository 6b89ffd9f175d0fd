import { setTimeout as sleep } from 'node:timers/promises';
import type { ServedChain } from '../chains-config.ts';
import { type PackedVariant, packedVariant } from '../packed/variants.ts';
import { runScenario, type Scenario } from '../scenario.ts';
import { type Anvil, startAnvil } from '../services/anvil.ts';
import { createTraffic } from '../traffic.ts';
import type { Part } from './supervisor.ts';

const BLOCK_TIME_SECS = 1;
/** Ten minutes, for the indexer's reads of the past: a demo that runs for days must not grow with every block. */
const KEPT_STATES = 600;

/** A devnet chain before it runs, and what its packed pools are like. */
export type DemoChain = Pick<ServedChain, 'chainId' | 'name' | 'kind'> & { readonly packed: PackedVariant };

export const DEMO_CHAINS: readonly DemoChain[] = [
  { chainId: 31_337, name: 'devnet-a', kind: 'ethereum', packed: packedVariant('sumOnEdges') },
  { chainId: 31_338, name: 'devnet-b', kind: 'bsc', packed: packedVariant('quotient') },
];

export interface ChainPart extends Part {
  readonly url: string;
}

/** A local chain that mines at once, for a quick scenario. */
export async function startChain({ chainId }: DemoChain): Promise<ChainPart> {
  const anvil: Anvil = await startAnvil({ chainId, keptStates: KEPT_STATES });
  return { ...anvil, note: anvil.url };
}

/** Deploys the protocol, tokens and pools, then lets the chain mine a block every second. */
export async function openMarket(
  { chainId, packed }: DemoChain,
  rpcUrl: string,
): Promise<Part & Pick<ServedChain, 'scenario'>> {
  const scenario = await runScenario({ rpcUrl, chainId, packed, blockTimeSecs: BLOCK_TIME_SECS });
  return { scenario, note: `${scenario.pools.length} pools`, stop: async () => undefined };
}

export interface TrafficOptions {
  readonly seed: number;
  /** Actions per second. */
  readonly rate: number;
}

/** Failures in a row after which the traffic gives up: the chain is gone. */
const MAX_FAILURES = 20;

/** Keeps trading until it is stopped. An action that the chain refuses is part of the game; a chain that is gone is not. */
export async function startTraffic(rpcUrl: string, scenario: Scenario, { seed, rate }: TrafficOptions): Promise<Part> {
  const traffic = await createTraffic({ rpcUrl, scenario, seed });
  let stopping = false;
  const run = async (): Promise<string> => {
    let failures = 0;
    while (!stopping) {
      const startedAt = performance.now();
      try {
        await traffic.step();
        failures = 0;
      } catch (error) {
        if (++failures >= MAX_FAILURES) return String(error);
      }
      await sleep(Math.max(0, 1_000 / rate - (performance.now() - startedAt)));
    }
    return 'stopped';
  };
  const ended = run();
  return {
    note: `${rate} actions per second`,
    ended,
    stop: async () => {
      stopping = true;
      await ended;
    },
  };
}
