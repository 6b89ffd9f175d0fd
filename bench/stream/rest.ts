import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { connectSse } from '../../test/stream/stream-connection.ts';
import { Samples } from '../route/measure.ts';
import { everySecond, mineNext } from './blocks.ts';
import type { StreamChain } from './market.ts';

/** Longer than a head is used after it was seen. */
const HEAD_MS = 600;
const READ_LIMIT_MS = 5_000;

const Told = z.object({ blockNumber: z.number() });

/** Times a batch of all pools of a chain at new blocks, each as soon as a stream has told the block. */
export async function measureWarmed(url: string, chain: StreamChain, rounds: number): Promise<Samples> {
  let newest = 0;
  let notice: () => void = () => undefined;
  const wanted = { chainId: chain.chainId, pools: chain.pools.flat(), depth: false };
  const connection = connectSse(url, wanted, {
    message: (_event, _id, data) => {
      newest = Told.parse(JSON.parse(data)).blockNumber;
      notice();
    },
    ended: (why) => {
      throw new Error(`the stream ended: ${why}`);
    },
  });
  const hasTold = (number: number) =>
    new Promise<void>((resolve, reject) => {
      setTimeout(() => reject(new Error(`block ${number} was not told`)), READ_LIMIT_MS).unref();
      notice = () => newest >= number && resolve();
      notice();
    });
  try {
    return await measureBatches(url, chain, rounds, hasTold);
  } finally {
    connection.close();
  }
}

/** The same at an API that reads nothing by itself, as soon as it looks at the head again. */
export function measureCold(url: string, chain: StreamChain, rounds: number): Promise<Samples> {
  return measureBatches(url, chain, rounds, () => sleep(HEAD_MS));
}

async function measureBatches(
  url: string,
  chain: StreamChain,
  rounds: number,
  ready: (block: number) => Promise<void>,
): Promise<Samples> {
  const samples = new Samples();
  const mine = mineNext(chain);
  await timeBatch(url, chain);
  await everySecond(rounds, 0, async (turn) => {
    const { number } = await mine(turn);
    await ready(number);
    samples.add(await timeBatch(url, chain));
  });
  return samples;
}

/** @returns milliseconds to the last byte */
async function timeBatch(url: string, { chainId, pools }: StreamChain): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ pools: pools.flat(), depth: false });
  const response = await fetch(`${url}/public/v1/evm/${chainId}/bid_ask/batch`, { method: 'POST', body });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  if (response.status !== 200 || text.includes('"error"')) {
    throw new Error(`batch: ${response.status} ${text.slice(0, 200)}`);
  }
  return ms;
}
