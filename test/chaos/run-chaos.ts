import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { disturb, type Tempo } from './disturbances.ts';
import { type FinalChecksReport, runFinalChecks } from './final-checks.ts';
import { HttpClient, type LoadReport, randomRequests } from './http-load.ts';
import { QuoteUpdates } from './quote-updates.ts';
import { startWorld, type World } from './world.ts';

export interface ChaosOptions {
  /** Every random decision follows from it; their times follow from the machine as well. */
  readonly seed: number;
  /** How long everything is disturbed. */
  readonly seconds: number;
  readonly tempo: Tempo;
  readonly chainCount?: number;
  readonly rates: {
    /** Blocks per second and chain, one action each. */
    readonly blocks: number;
    readonly requests: number;
    readonly quoteUpdates: number;
  };
  readonly logs?: string | undefined;
  /** Told what happens, a line at a time. */
  readonly say: (line: string) => void;
}

/** What was done to the service, and what became of it. */
export interface ChaosReport {
  readonly kills: Readonly<Record<string, number>>;
  /**
   * Ends that the run did not cause directly, as of an indexer whose database is gone: the supervisor started it again.
   */
  readonly ownEnds: Readonly<Record<string, readonly string[]>>;
  readonly reorganisations: number;
  readonly blocksUndone: number;
  readonly deepestReorganisation: number;
  readonly stalls: number;
  readonly actions: number;
  readonly poolsOpened: number;
  /** Pools that the attacker opened, and how often one of its contracts turned, by what it does since. */
  readonly hostilePools: number;
  readonly hostilePackedPools: number;
  /** Swaps of the attacker in its packed pools. */
  readonly hostileTrades: number;
  readonly turns: Readonly<Record<string, number>>;
  readonly http: LoadReport;
  /** To clients, by builder. */
  readonly acknowledgements: Readonly<Record<string, number>>;
  readonly finalChecks: FinalChecksReport;
}

const START_LIMIT_MS = 180_000;

/**
 * Runs the whole service on chains that trade, kills its parts, reorganises the chains and stalls their nodes at random
 * times under requests, and then looks for anything that was lost.
 *
 * @throws Error when a part does not come up, or does not come back
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, say } = options;
  say(`seed ${seed}`);
  const world = await startWorld({ ...options, isAttacked: true });
  try {
    await waitForStart(world);
    say(`everything is up; ${seconds} s of chaos begin`);
    const random = seededRandom(seed);
    const http = new HttpClient(world.processes.apis, fork(random));
    const updates = await QuoteUpdates.create(
      world.chains.map(({ plan }) => plan),
      http,
      world.key,
    );
    await bringChaos(world, options, random, { http, updates });
    say('chaos is over; waiting for everything to catch up');
    const finalChecks = await runFinalChecks(world, updates, say);
    return report(world, http, updates, finalChecks);
  } finally {
    await world.stop();
  }
}

async function waitForStart({ processes: { indexer, capture, apis, workers } }: World): Promise<void> {
  await Promise.all([
    indexer.answers('/ready', START_LIMIT_MS),
    ...[capture, ...apis, ...workers].map((process) => process.answers('/health', START_LIMIT_MS)),
  ]);
}

async function bringChaos(
  world: World,
  { seconds, rates, tempo }: ChaosOptions,
  random: Random,
  { http, updates }: { readonly http: HttpClient; readonly updates: QuoteUpdates },
): Promise<void> {
  const { chains, key } = world;
  const end = new AbortController();
  // Everything that runs waits for it.
  setMaxListeners(0, end.signal);
  const stop = <T>(work: Promise<T>) => work.finally(() => end.abort());
  await Promise.all([
    stop(sleep(1_000 * seconds, undefined, { signal: end.signal }).catch(() => undefined)),
    ...chains.map((chain) => stop(chain.trade(rates.blocks, end.signal))),
    stop(http.load(randomRequests(chains, fork(random), key), rates.requests, end.signal)),
    stop(updates.send(fork(random), rates.quoteUpdates, end.signal)),
    stop(disturb(world, tempo, () => fork(random), end.signal)),
  ]);
}

/** A sequence of its own, so that what one part draws does not shift another's chance. */
function fork(random: Random): Random {
  return seededRandom(random.integer(1, 2 ** 31 - 1));
}

function report(world: World, http: HttpClient, updates: QuoteUpdates, finalChecks: FinalChecksReport): ChaosReport {
  const { chains, servers, processes } = world;
  const supervised = [processes.indexer, processes.capture, ...processes.apis, ...processes.workers];
  const sum = (count: (chain: (typeof chains)[number]) => number) =>
    chains.map(count).reduce((total, each) => total + each, 0);
  return {
    kills: Object.fromEntries([...supervised, ...Object.values(servers)].map(({ name, kills }) => [name, kills])),
    ownEnds: Object.fromEntries(supervised.map(({ name, ownEnds }) => [name, ownEnds])),
    reorganisations: sum((chain) => chain.reorganisations),
    blocksUndone: sum((chain) => chain.blocksUndone),
    deepestReorganisation: Math.max(...chains.map(({ deepest }) => deepest)),
    stalls: sum((chain) => chain.stalls),
    actions: sum((chain) => chain.actions),
    poolsOpened: sum((chain) => chain.poolsOpened),
    turns: turnsOf(chains),
    hostilePools: sum((chain) => chain.attacker?.pools.length ?? 0),
    hostilePackedPools: sum((chain) => chain.attacker?.pools.filter(({ isPacked }) => isPacked).length ?? 0),
    hostileTrades: sum((chain) => chain.attacker?.trades ?? 0),
    http: http.report,
    acknowledgements: Object.fromEntries(
      world.builders.map(({ id }) => [id, updates.acknowledgements.filter(({ builder }) => builder === id).length]),
    ),
    finalChecks,
  };
}

function turnsOf(chains: World['chains']): Record<string, number> {
  const turns: Record<string, number> = {};
  for (const [way, count] of chains.flatMap(({ attacker }) => Object.entries(attacker?.turns ?? {}))) {
    turns[way] = (turns[way] ?? 0) + count;
  }
  return turns;
}
