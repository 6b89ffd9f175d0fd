import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../devnet/traffic/random.ts';
import type { ChaosChain } from './chaos-chain.ts';
import type { KillableServer } from './servers.ts';
import type { SupervisedProcess } from './supervised-process.ts';
import type { World } from './world.ts';

/** Pauses between two disturbances of a kind and how long one lasts, milliseconds; both ends included. */
export interface Tempo {
  readonly indexer: Range;
  readonly process: Range;
  readonly server: Range;
  readonly serverDown: Range;
  readonly builder: Range;
  readonly reorganisation: Range;
  readonly stall: Range;
  readonly stalled: Range;
  readonly attack: Range;
}

type Range = readonly [from: number, to: number];

/** Deepest reorganisation that an index undoes: the finality window of a chain of which nothing better is known. */
export const FINALITY_BLOCKS = 30;

/** Disturbs everything at random times until it is stopped; settles when the last disturbance is over. */
export async function disturb(world: World, tempo: Tempo, fork: () => Random, signal: AbortSignal): Promise<void> {
  const { chains, builders, servers, processes } = world;
  const small = [processes.capture, ...processes.apis, ...processes.workers];
  const again = (pauseMs: Range, strike: (random: Random) => Promise<unknown>) =>
    repeatedly(fork(), pauseMs, signal, strike);
  await Promise.all([
    again(tempo.indexer, () => kill(processes.indexer)),
    again(tempo.process, (random) => kill(random.pick(small))),
    ...Object.values(servers).map((server) =>
      again(tempo.server, (random) => crash(server, between(random, tempo.serverDown))),
    ),
    again(tempo.builder, async (random) => random.pick(builders).mock.breakConnections()),
    ...chains.map((chain) => again(tempo.reorganisation, (random) => reorganise(chain, random))),
    ...chains.map((chain) => again(tempo.stall, (random) => chain.stall(random, between(random, tempo.stalled)))),
    ...chains.map((chain) => again(tempo.attack, () => chain.beAttacked())),
  ]);
}

async function repeatedly(
  random: Random,
  pauseMs: Range,
  signal: AbortSignal,
  strike: (random: Random) => Promise<unknown>,
): Promise<void> {
  while (await rest(between(random, pauseMs), signal)) await strike(random);
}

/** False when it was stopped meanwhile. */
async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function kill(process: SupervisedProcess): Promise<void> {
  process.kill();
}

function crash(server: KillableServer, downMs: number): Promise<void> {
  return server.crash(downMs);
}

/** Mostly shallow, as on real chains, but every depth of the window may come. */
function reorganise(chain: ChaosChain, random: Random): Promise<void> {
  const deepest = random.chance(60) ? 5 : FINALITY_BLOCKS;
  return chain.reorganise(random.integer(1, deepest));
}

function between(random: Random, [from, to]: Range): number {
  return random.integer(from, to);
}
