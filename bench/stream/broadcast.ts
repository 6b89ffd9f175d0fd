import { setTimeout as sleep } from 'node:timers/promises';
import { serverCpuMs } from '../hostile/cpu-time.ts';
import { startMeasuredServer } from '../measured-server.ts';
import { Samples } from '../route/measure.ts';
import { everySecond } from './blocks.ts';
import type { ClientProcess } from './client-process.ts';
import type { Plan } from './connections.ts';
import { millisecondsNow } from './now.ts';

const SOURCE = new URL('./bare-broadcast.ts', import.meta.url);
const SETTLE_MS = 1_000;

export interface BroadcastFigures {
  /** From the order to broadcast to a client that reads well, milliseconds. */
  readonly delays: Samples;
  /** CPU time for each second, milliseconds. */
  readonly cpuPerSecond: number;
}

/** The same connections, all by SSE, at a server that sends each one text of the same length every second. */
export async function measureBroadcast(
  clients: ClientProcess,
  plans: readonly Plan[],
  bytes: { readonly plain: number; readonly withDepth: number },
  seconds: number,
): Promise<BroadcastFigures> {
  const { pid, urls, stop } = await startMeasuredServer(SOURCE);
  const [url = ''] = urls;
  const all = plans.map((plan) => ({ ...plan, transport: 'sse' as const }));
  try {
    await clients.open(url, all);
    await clients.collect();
    const cpuBefore = serverCpuMs(pid);
    const chainIds = [...new Set(plans.map(({ chainId }) => chainId))];
    const sentAt = await Promise.all(
      chainIds.map(async (chainId, index) => {
        const offset = (1_000 * index) / chainIds.length;
        return [
          chainId,
          await everySecond(seconds, offset, (turn) => broadcast(url, chainId, turn + 1, bytes)),
        ] as const;
      }),
    );
    await sleep(SETTLE_MS);
    const cpuMs = serverCpuMs(pid) - cpuBefore;
    const { updates } = await clients.collect();
    await clients.close();
    const times = new Map(sentAt);
    const delays = new Samples();
    for (const { connection, block, at } of updates) {
      const plan = all[connection];
      const sent = plan?.pace === 'good' ? times.get(plan.chainId)?.[block - 1] : undefined;
      if (sent !== undefined) delays.add(at - sent);
    }
    return { delays, cpuPerSecond: cpuMs / (seconds + SETTLE_MS / 1_000) };
  } finally {
    await stop();
  }
}

async function broadcast(url: string, chainId: number, blockNumber: number, bytes: object): Promise<number> {
  const at = millisecondsNow();
  const body = JSON.stringify({ blockNumber, ...bytes });
  const response = await fetch(`${url}/public/v1/evm/${chainId}/block`, { method: 'POST', body });
  if (response.status !== 204) throw new Error(`broadcast: ${response.status}`);
  return at;
}
