import { AskedProcess } from '../../bench/asked-process.ts';
import type { LoadOrder, LoadWindow } from '../../bench/hostile/load-clients.ts';
import { givePrecedence } from '../../bench/hostile/precedence.ts';
import type { HeavyOrder, HeavyResult } from './heavy-attack.ts';
import { HEAVY_BODIES } from './heavy-bodies.ts';
import { type AbuseWorld, CHAIN } from './world.ts';

export interface HeavyWindow {
  readonly kind: string;
  /** What a client of quotes saw before and during the attack. */
  readonly calm: LoadWindow;
  readonly attacked: LoadWindow;
  /** What the attackers saw. */
  readonly answers: HeavyResult;
}

/** Texts that take long to parse, kind after kind, each for so long beside a client that asks for quotes. */
export async function attackWithHeavyJson({ api, key, pools }: AbuseWorld, seconds: number): Promise<HeavyWindow[]> {
  // As in production: what else runs on the machine must not stand for the attackers.
  givePrecedence(api.pid);
  const client = new AskedProcess<LoadOrder>(new URL('../../bench/hostile/load-clients.ts', import.meta.url));
  const attackers = new AskedProcess<HeavyOrder>(new URL('./heavy-attack.ts', import.meta.url));
  const requests = pools.map((pool) => ({
    path: `/public/v1/evm/${CHAIN}/${pool}/bid_ask`,
    headers: { Authorization: `Bearer ${key}` },
  }));
  const order = { url: `http://127.0.0.1:${api.port}`, requests, clients: 2, pauseMs: 10, seconds };
  const windows: HeavyWindow[] = [];
  try {
    await client.ask<LoadWindow>({ ...order, seconds: 2 }); // Its code and that of the API become fast.
    for (const kind of [...Object.keys(HEAVY_BODIES), 'WebSockets']) {
      const calm = await client.ask<LoadWindow>(order);
      const attack = attackers.ask<HeavyResult>({ port: api.port, chainId: CHAIN, key, kind, seconds: seconds + 1 });
      const attacked = await client.ask<LoadWindow>(order);
      windows.push({ kind, calm, attacked, answers: await attack });
    }
  } finally {
    client.stop();
    attackers.stop();
  }
  return windows;
}
