import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderProcess } from '../../test/abuse/order-process.ts';
import { Samples } from '../../test/harness/samples.ts';
import { millisecondsNow } from '../../test/many-pools/now.ts';
import { startMeasuredScript } from '../measured-process.ts';
import { everySecond } from './blocks.ts';
import type { Order } from './clients.ts';
import type { Plan } from './connections.ts';
import type { Collected } from './readings.ts';

const SETTLE_MS = 1_000;

export interface BroadcastFigures {
  /** From the order to broadcast to a client that reads well, milliseconds. */
  readonly delays: Samples;
  /** CPU time for each second, milliseconds. */
  readonly cpuPerSecond: number;
}

/** The same connections, all by SSE, at a server that sends each one text of the same length every second. */
export async function measureBroadcast(
  clients: OrderProcess<Order>,
  plans: readonly Plan[],
  bytes: { readonly plain: number; readonly withDepth: number },
  seconds: number,
): Promise<BroadcastFigures> {
  const { url, cpuMs } = await startMeasuredScript(new URL('./bare-broadcast.ts', import.meta.url));
  const all = plans.map((plan) => ({ ...plan, transport: 'sse' as const }));
  await clients.ask({ kind: 'open', urls: [url], plans: all });
  await clients.ask({ kind: 'collect' });
  const cpuBefore = cpuMs();
  const chainIds = [...new Set(plans.map(({ chainId }) => chainId))];
  const times = new Map<number, readonly number[]>();
  const broadcasts = chainIds.map(async (chainId, index) => {
    const send = (turn: number) => broadcast(`${url}/public/v1/evm/${chainId}`, turn + 1, bytes);
    times.set(chainId, await everySecond(seconds, (1_000 * index) / chainIds.length, send));
  });
  await Promise.all(broadcasts);
  await sleep(SETTLE_MS);
  const cpuPerSecond = (cpuMs() - cpuBefore) / (seconds + SETTLE_MS / 1_000);
  const { updates } = await clients.ask<Collected>({ kind: 'collect' });
  await clients.ask({ kind: 'close' });
  const delays = new Samples();
  for (const { connection, block, at } of updates) {
    const plan = all[connection];
    const sent = plan?.pace === 'good' ? times.get(plan.chainId)?.[block - 1] : undefined;
    if (sent !== undefined) delays.add(at - sent);
  }
  return { delays, cpuPerSecond };
}

async function broadcast(base: string, blockNumber: number, bytes: object): Promise<number> {
  const at = millisecondsNow();
  const body = JSON.stringify({ blockNumber, ...bytes });
  const response = await fetch(`${base}/block`, { method: 'POST', body });
  if (response.status !== 204) throw new Error(`broadcast: ${response.status}`);
  return at;
}
