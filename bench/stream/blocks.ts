import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { millisecondsNow } from '../../test/many-pools/now.ts';
import { movePrices, type StreamChain } from '../../test/many-pools/stream-chain.ts';

/** A block that was mined. */
export interface Block {
  readonly chain: StreamChain;
  readonly number: number;
  readonly hash: Hex;
  /** Which pools' quotes changed. */
  readonly group: number;
  /** When the node had it, as {@link millisecondsNow}. */
  readonly at: number;
}

const BLOCK_TIME_MS = 1_000;

/** Mines a block a second on each chain, the chains in turns; in each one group of pools changes. */
export async function mineBlocks(chains: readonly StreamChain[], seconds: number): Promise<Block[]> {
  const mined = chains.map((chain, index) =>
    everySecond(seconds, (BLOCK_TIME_MS * index) / chains.length, mineNext(chain)),
  );
  return (await Promise.all(mined)).flat();
}

export function mineNext(chain: StreamChain): (turn: number) => Promise<Block> {
  return async (turn) => {
    const group = turn % (chain.pools.length - 1);
    const block = await movePrices(chain, group);
    return { ...block, chain, group, at: millisecondsNow() };
  };
}

/** Runs something every second, this many times. */
export async function everySecond<T>(
  times: number,
  offsetMs: number,
  work: (turn: number) => Promise<T>,
): Promise<T[]> {
  const startsAt = performance.now() + offsetMs;
  const results: T[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    await sleep(Math.max(0, startsAt + turn * BLOCK_TIME_MS - performance.now()));
    results.push(await work(turn));
  }
  return results;
}
