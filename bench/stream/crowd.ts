import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderProcess } from '../../test/abuse/order-process.ts';
import { Samples } from '../../test/harness/samples.ts';
import type { StreamChain } from '../../test/many-pools/stream-chain.ts';
import type { MeasuredProcess } from '../measured-process.ts';
import { memoryOf } from '../process-figures.ts';
import { type Block, everySecond, mineBlocks } from './blocks.ts';
import type { Order } from './clients.ts';
import type { Plan } from './connections.ts';
import type { Collected } from './readings.ts';

/** What a number of connections took and cost. Times in milliseconds. */
export interface CrowdFigures {
  /** From the block at the node, and from the node's last answer for it, to the update at a client that reads well. */
  readonly sinceHead: Samples;
  readonly sinceRead: Samples;
  /** From the block at the node to its last answer for it. */
  readonly reads: Samples;
  /** CPU time of the APIs for each second. */
  readonly cpuPerSecond: number;
  /** Mean memory of the first API around the middle, and at the end, bytes. */
  readonly memoryMiddle: number;
  readonly memoryEnd: number;
  /** Changed quotes that did not reach a client that reads well, of this many. */
  readonly lost: number;
  readonly expected: number;
  readonly callsPerBlock: number;
  /** What the meter showed more than before. */
  readonly meteredPerBlock: number;
  /** Mean length of an update by its block and connection: without depth, with it. */
  readonly bytesPlain: number;
  readonly bytesDepth: number;
  /** The updates themselves are not kept: a heap of them would slow what this process times next. */
  readonly counts: Omit<Collected, 'updates'>;
}

const SETTLE_MS = 3_000;
/** In which the last block is read. */
const READ_MS = 1_000;

export interface Crowd {
  /** Connections take them in turns. */
  readonly apis: readonly Pick<MeasuredProcess, 'url' | 'pid' | 'cpuMs'>[];
  readonly clients: OrderProcess<Order>;
  readonly chains: readonly StreamChain[];
  readonly plans: readonly Plan[];
  readonly seconds: number;
  /** Before anything is measured. */
  readonly warmUpBlocks?: number;
  readonly meter?: () => Promise<number>;
  /** Work while the connections are still open. */
  readonly afterwards?: () => Promise<void>;
}

/** Opens connections, mines for this many seconds, and sees what comes. */
export async function measureCrowd(crowd: Crowd): Promise<CrowdFigures> {
  const { apis, clients, chains, plans, seconds, warmUpBlocks = 3, meter = async () => 0 } = crowd;
  await clients.ask({ kind: 'open', urls: apis.map(({ url }) => url), plans });
  await mineBlocks(chains, warmUpBlocks);
  await sleep(SETTLE_MS);
  await clients.ask({ kind: 'collect' });
  const callsOf = () => chains.reduce((sum, { node }) => sum + node.calls(), 0);
  const cpuOf = () => apis.reduce((sum, { cpuMs }) => sum + cpuMs(), 0);
  const before = { calls: callsOf(), cpu: cpuOf(), metered: await meter() };
  const [blocks, memory] = await Promise.all([
    mineBlocks(chains, seconds),
    everySecond(seconds, 0, async () => memoryOf(apis[0]?.pid ?? 0)),
  ]);
  await sleep(READ_MS);
  const [calls, metered] = [callsOf() - before.calls, (await meter()) - before.metered];
  await sleep(SETTLE_MS - READ_MS);
  const cpu = cpuOf() - before.cpu;
  const collected = await clients.ask<Collected>({ kind: 'collect' });
  await crowd.afterwards?.();
  const { updates: _, ...counts } = collected;
  await clients.ask({ kind: 'close' });
  const fifth = Math.ceil(seconds / 5);
  const middle = Math.floor((seconds - fifth) / 2);
  return {
    ...delaysOf(plans, blocks, collected),
    ...lossOf(plans, blocks, collected),
    ...bytesOf(plans, collected),
    cpuPerSecond: cpu / (seconds + SETTLE_MS / 1_000),
    memoryMiddle: new Samples(memory.slice(middle, middle + fifth)).mean,
    memoryEnd: new Samples(memory.slice(-fifth)).mean,
    callsPerBlock: calls / blocks.length,
    meteredPerBlock: metered / blocks.length,
    counts,
  };
}

const keyOf = (chainId: number, number: number): string => `${chainId} ${number}`;

function delaysOf(plans: readonly Plan[], blocks: readonly Block[], { updates }: Collected) {
  const [sinceHead, sinceRead, reads] = [new Samples(), new Samples(), new Samples()];
  const byKey = new Map(blocks.map((block) => [keyOf(block.chain.chainId, block.number), block]));
  for (const { chain, hash, at } of blocks) {
    const readAt = chain.node.readDoneAt(hash);
    if (readAt !== undefined) reads.add(readAt - at);
  }
  for (const { connection, block: number, at } of updates) {
    const plan = plans[connection];
    const block = plan?.pace === 'good' ? byKey.get(keyOf(plan.chainId, number)) : undefined;
    if (!block) continue;
    sinceHead.add(at - block.at);
    const readAt = block.chain.node.readDoneAt(block.hash);
    if (readAt !== undefined) sinceRead.add(at - readAt);
  }
  return { sinceHead, sinceRead, reads };
}

/** A changed quote is lost to a connection that was not told of it by an update of that very block. */
function lossOf(plans: readonly Plan[], blocks: readonly Block[], { updates }: Collected) {
  const received = new Map<string, number>();
  for (const { connection, block, quotes } of updates) {
    const key = `${connection} ${block}`;
    received.set(key, (received.get(key) ?? 0) + quotes);
  }
  let [lost, expected] = [0, 0];
  for (const [connection, { chainId, pools, pace }] of plans.entries()) {
    if (pace !== 'good') continue;
    const named = new Set(pools);
    for (const { chain, number, group } of blocks) {
      if (chain.chainId !== chainId) continue;
      const changed = chain.pools[group]?.filter((pool) => named.has(pool)).length ?? 0;
      expected += changed;
      lost += Math.max(0, changed - (received.get(`${connection} ${number}`) ?? 0));
    }
  }
  return { lost, expected };
}

function bytesOf(plans: readonly Plan[], { updates }: Collected) {
  const lengths = (depth: boolean) =>
    updates.filter(({ connection }) => plans[connection]?.depth === depth).map(({ bytes }) => bytes);
  return { bytesPlain: new Samples(lengths(false)).mean, bytesDepth: new Samples(lengths(true)).mean };
}
