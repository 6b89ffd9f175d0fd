import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../local/processes/supervisor.ts';
import { type Anvil, startAnvil } from '../anvil.ts';
import type { ServedChain } from '../chains-config.ts';
import { connectDevChain, setBlockTime } from '../dev-chain.ts';
import { type PackedVariant, packedVariant } from '../packed/variants.ts';
import { runScenario, type Scenario } from '../scenario.ts';
import { createTraffic } from '../traffic.ts';

/** Of a builder, which has time to show several prices for each of its blocks. */
const SLOT_SECS = 4;
/** Of a sequencer, which shows a part of a block each tenth of it. */
const SEQUENCED_SECS = 2;
/** Ten minutes, for the indexer's reads of the past: a demo that runs for days must not grow with every block. */
const KEPT_STATES = 600;

/** A devnet chain before it runs, and what its packed pools are like. */
export type DemoChain = Pick<ServedChain, 'chainId' | 'name' | 'kind' | 'readBudget' | 'warmBudget'> & {
  readonly packed: PackedVariant;
  /** Seconds between its blocks. */
  readonly slotSecs: number;
  /** Who shows its prices before they land: a builder, or a sequencer that shows blocks in parts. */
  readonly builtBy: 'builder' | 'sequencer';
};

/** Local nodes are free: what happened before the start is read at once. */
const readBudget = { callsPerMinute: 6_000 };
/** The page has no key: its pools have a fifth, and parts come five times a second. */
const warmBudget = { callsPerMinute: 12_000 };

export const DEMO_CHAINS: readonly DemoChain[] = [
  {
    chainId: 31_337,
    name: 'devnet-a',
    kind: 'ethereum',
    packed: packedVariant('sumOnEdges'),
    slotSecs: SLOT_SECS,
    builtBy: 'builder',
    readBudget,
  },
  {
    chainId: 31_338,
    name: 'devnet-b',
    kind: 'bsc',
    packed: packedVariant('quotient'),
    slotSecs: SEQUENCED_SECS,
    builtBy: 'sequencer',
    readBudget,
    warmBudget,
  },
];

export interface ChainPart extends Part {
  readonly url: string;
}

/** A builder decides the order of a block's transactions; its rarer blocks have room for as much traffic. */
const BUILT_ARGS = ['--order', 'fifo', '--gas-limit', String(SLOT_SECS * 30_000_000)];

/** What charts show of the time before the start. */
const PAST = { secs: 3_600, blockSecs: 30, actions: 11, seed: 7 } as const;
/** Time of the chain in which its pools are made, before {@link PAST}. */
const SETUP_SECS = 600;

const unixNow = () => Math.floor(Date.now() / 1_000);

/** A local chain that begins in the past and mines at once, for a quick scenario. */
export async function startChain({ chainId }: DemoChain): Promise<ChainPart> {
  const args = ['--timestamp', String(unixNow() - PAST.secs - SETUP_SECS), ...BUILT_ARGS];
  const anvil: Anvil = await startAnvil({ chainId, keptStates: KEPT_STATES, args });
  return { ...anvil, note: anvil.url };
}

/**
 * Deploys the protocol, tokens and pools, and trades in them for an hour of the chain's time, up to now. Then lets the
 * chain mine a block every second unless a builder will.
 */
export async function openMarket(
  { chainId, packed }: DemoChain,
  rpcUrl: string,
): Promise<Part & Pick<ServedChain, 'scenario'>> {
  const scenario = await runScenario({ rpcUrl, chainId, packed });
  const chain = await connectDevChain(rpcUrl);
  await chain.client.setAutomine(false);
  const traffic = await createTraffic({ rpcUrl, scenario, seed: PAST.seed });
  for (let at = unixNow() - PAST.secs; at < unixNow(); at += PAST.blockSecs) await traffic.mineAt(at, PAST.actions);
  // The chain's clock is the real one from here on.
  await traffic.mineAt(unixNow(), 0);
  await setBlockTime(chain, 0);
  return { scenario, note: `${scenario.pools.length} pools`, stop: async () => undefined };
}

export interface TrafficOptions {
  readonly seed: number;
  /** Actions per second. */
  readonly rate: number;
}

/**
 * Keeps trading until it is stopped. An action that the chain refuses is part of the game, whatever its user did to it.
 */
export async function startTraffic(rpcUrl: string, scenario: Scenario, { seed, rate }: TrafficOptions): Promise<Part> {
  const traffic = await createTraffic({ rpcUrl, scenario, seed });
  let stopping = false;
  const run = async (): Promise<string> => {
    while (!stopping) {
      const startedAt = performance.now();
      await traffic.step().catch(() => undefined); // The end of the node is noticed by who started it.
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
