import { Samples } from '../harness/samples.ts';
import type { HeavyOrder, HeavyResult } from './heavy-attack.ts';
import { HEAVY_BODIES } from './heavy-bodies.ts';
import { LoadClients, type LoadWindow } from './load.ts';
import { OrderProcess } from './order-process.ts';
import { givePrecedence } from './precedence.ts';

import { type AbuseWorld, CHAIN } from './world.ts';

export interface HeavyAttack {
  readonly kind: string;
  /** What a client of quotes saw before and during the attack, round by round. */
  readonly calm: readonly LoadWindow[];
  readonly attacked: readonly LoadWindow[];
  /** What the attackers saw in each round. */
  readonly answers: readonly HeavyResult[];
}

/**
 * Texts that take long to parse, kind after kind, next to a client that asks for quotes.
 *
 * @param rounds of each kind, alternating with as long a time without: other work on the machine hits both
 */
export async function attackWithHeavyJson(
  { api, key, pools }: AbuseWorld,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<HeavyAttack[]> {
  // As in production: what else runs on the machine must not stand for the attackers.
  givePrecedence(api.pid);
  const client = new LoadClients();
  const attackers = new OrderProcess<HeavyOrder>(new URL('./heavy-attack.ts', import.meta.url));
  const requests = pools.map((pool) => ({
    path: `/public/v1/evm/${CHAIN}/${pool}/bid_ask`,
    headers: { Authorization: `Bearer ${key}` },
  }));
  const load = { url: `http://127.0.0.1:${api.port}`, requests, clients: 2, pauseMs: 10 };
  const timed = () => client.forSeconds(load, seconds);
  const attacks: HeavyAttack[] = [];
  try {
    const kinds = [...Object.keys(HEAVY_BODIES), 'WebSockets'];
    const attackWith = (kind: string, forSecs: number) =>
      attackers.ask<HeavyResult>({ port: api.port, chainId: CHAIN, key, kind, seconds: forSecs });
    // Code that has run before is compiled.
    for (const kind of kinds) await attackWith(kind, seconds / 2);
    await timed();
    for (const kind of kinds) {
      const [calm, attacked, answers]: [LoadWindow[], LoadWindow[], HeavyResult[]] = [[], [], []];
      while (calm.length < rounds) {
        calm.push(await timed());
        const attack = attackWith(kind, seconds + 1);
        attacked.push(await timed());
        answers.push(await attack);
      }
      attacks.push({ kind, calm, attacked, answers });
    }
  } finally {
    client.stop();
    attackers.stop();
  }
  return attacks;
}

/** Milliseconds: the middle one of the rounds. */
export const medianP99 = (windows: readonly LoadWindow[]): number =>
  new Samples(windows.map(({ times }) => new Samples(times).p99)).median;
