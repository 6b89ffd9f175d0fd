import { setTimeout as sleep } from 'node:timers/promises';
import { OrderProcess } from '../../test/abuse/order-process.ts';
import { Samples } from '../../test/harness/samples.ts';
import type { StreamChain } from '../../test/many-pools/stream-chain.ts';
import type { BatchOrder } from './batch-client.ts';
import { everySecond, mineNext } from './blocks.ts';

/** Longer than a head is used after it was seen. */
const HEAD_MS = 600;
/** Batches after which the client's own code is compiled. */
const UNTIMED = 20;
const SOURCE = new URL('./batch-client.ts', import.meta.url);

type Client = OrderProcess<BatchOrder>;

/** Times a batch of all pools of a chain at new blocks, each as soon as a stream has told the block. */
export function measureWarmed(url: string, chain: StreamChain, rounds: number): Promise<Samples> {
  return measureBatches(url, chain, rounds, true);
}

/** The same at an API that reads nothing by itself, as soon as it looks at the head again. */
export function measureCold(url: string, chain: StreamChain, rounds: number): Promise<Samples> {
  return measureBatches(url, chain, rounds, false);
}

async function measureBatches(url: string, chain: StreamChain, rounds: number, isWarmed: boolean): Promise<Samples> {
  const target = { url, chainId: chain.chainId, pools: chain.pools.flat() };
  const client: Client = new OrderProcess(SOURCE);
  const samples = new Samples();
  const mine = mineNext(chain);
  try {
    for (let turn = 0; turn < UNTIMED; turn += 1) await client.ask({ kind: 'time', ...target });
    if (isWarmed) await client.ask({ kind: 'follow', ...target });
    await everySecond(rounds, 0, async (turn) => {
      const { number } = await mine(turn);
      if (!isWarmed) await sleep(HEAD_MS);
      const after = isWarmed ? { afterBlock: number } : {};
      samples.add(await client.ask<number>({ kind: 'time', ...target, ...after }));
    });
    return samples;
  } finally {
    client.stop();
  }
}
