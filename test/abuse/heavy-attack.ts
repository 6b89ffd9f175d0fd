import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { runMain } from '../../runtime/run-main.ts';
import { HEAVY_BODIES, HEAVY_MESSAGES } from './heavy-bodies.ts';
import { answerOrders } from './order-process.ts';
import { createSender } from './send.ts';

export interface HeavyOrder {
  readonly port: number;
  readonly chainId: number;
  /** For quote updates. */
  readonly key: string;
  /** One of {@link HEAVY_BODIES}, or `WebSockets`. */
  readonly kind: string;
  readonly seconds: number;
}

/** How many answers had which status; of WebSockets also how many ended. */
export type HeavyResult = Readonly<Record<string, number>>;

/**
 * Together they send as much as the default limits let an address send without a key, 5 batches and 10 routes a second,
 * and as many quote updates as routes with a key. The limits of this API are lower:
 * each request has an address of its own.
 */
const CONNECTIONS = 4;
const REQUESTS_PER_SEC = 25;
const BETWEEN_MS = 1_000 / REQUESTS_PER_SEC;
const ENDPOINTS = ['bid_ask/batch', 'route', 'pamm-quote', 'route', 'pamm-quote'];
/** As many as an address may open, and what each may send in a second. */
const SOCKETS = 15;
const OPERATIONS_PER_SEC = 10;

/** A separate process: it stands for other machines. */
runMain(async () => answerOrders((order: HeavyOrder) => (order.kind === 'WebSockets' ? operate(order) : post(order))));

async function post({ port, chainId, key, kind, seconds }: HeavyOrder): Promise<HeavyResult> {
  const sender = createSender(port, CONNECTIONS);
  const bodies = (HEAVY_BODIES[kind] ?? []).map((text) => Buffer.from(text));
  const counts = new Counts();
  const end = performance.now() + seconds * 1_000;
  let sent = 0;
  const connection = async (index: number) => {
    await sleep(index * BETWEEN_MS);
    let due = performance.now();
    while (performance.now() < end) {
      const n = sent++;
      const body = bodies[Math.floor(n / ENDPOINTS.length) % bodies.length] ?? null;
      const target = `/public/v1/evm/${chainId}/${ENDPOINTS[n % ENDPOINTS.length]}`;
      const headers = [
        ['Content-Type', 'application/json'] as const,
        ...(target.endsWith('quote') ? [bearer(key)] : []),
      ];
      const client = `100.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
      const { status } = await sender.send({ kind, method: 'POST', target, headers, body }, client);
      counts.add(status);
      due = Math.max(due + CONNECTIONS * BETWEEN_MS, performance.now());
      await sleep(due - performance.now());
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connection(index)));
  sender.close();
  return counts.all;
}

const bearer = (key: string) => ['Authorization', `Bearer ${key}`] as const;

async function operate({ port, chainId, seconds }: HeavyOrder): Promise<HeavyResult> {
  const counts = new Counts();
  const url = `ws://127.0.0.1:${port}/public/v1/evm/${chainId}/ws`;
  const end = performance.now() + seconds * 1_000;
  let opened = 0;
  /** Opens another when its own is ended for what it sent. */
  const attack = async (index: number) => {
    // Clients that do not know of each other do not send at the same time.
    await sleep((index * 1_000) / OPERATIONS_PER_SEC / SOCKETS);
    while (performance.now() < end) {
      const n = opened++;
      const socket = new WebSocket(url, { headers: { 'X-Forwarded-For': `101.0.${n >> 8}.${n & 255}` } });
      socket.on('error', () => counts.add('broken'));
      socket.on('close', () => counts.add('closed'));
      socket.on('message', (text) => counts.add((JSON.parse(String(text)) as { status?: number }).status ?? 'other'));
      await once(socket, 'open');
      for (let sent = n; performance.now() < end && socket.readyState === socket.OPEN; sent++) {
        socket.send(HEAVY_MESSAGES[sent % HEAVY_MESSAGES.length] ?? '');
        await sleep(1_000 / OPERATIONS_PER_SEC);
      }
      socket.terminate();
    }
  };
  await Promise.all(Array.from({ length: SOCKETS }, (_, index) => attack(index)));
  return counts.all;
}

class Counts {
  readonly all: Record<string, number> = {};

  add(outcome: string | number): void {
    this.all[outcome] = (this.all[outcome] ?? 0) + 1;
  }
}
