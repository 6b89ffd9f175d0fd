import { afterEach, expect } from 'vitest';
import type { StreamApi, StreamApiOptions } from './stream-api.ts';
import { streamWorld } from './stream-world.ts';
import { connectWs, type WsClient } from './ws-client.ts';

/** A pool that no chain has. */
export const NO_POOL = `0x${'99'.repeat(20)}`;
export const KEY = { Authorization: 'Bearer good' };
export const WAIT = { interval: 10 };

export const urlOf = ({ base }: StreamApi) => `${base.replace('http', 'ws')}/ws`;

export const isUpToDate = ({ book }: WsClient, block: number) =>
  expect.poll(() => book.block, WAIT).toBeGreaterThanOrEqual(block);

/** The stream world of a file, and clients by WebSocket, which end with their test. */
export function webSocketWorld() {
  const world = streamWorld();
  const clients: WsClient[] = [];
  const others = new Set<StreamApi>();
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.terminate();
    await Promise.all([...others].map((other) => other.stop()));
    others.clear();
    await expect.poll(() => world.api.connections.size, WAIT).toBe(0);
  });
  return {
    world,
    /** Starts an API of its own for one test, which may stop it. */
    another: async (options: Partial<StreamApiOptions>): Promise<StreamApi> => {
      const other = await world.startApi(options);
      const stop = () => {
        others.delete(running);
        return other.stop();
      };
      const running = { ...other, stop };
      others.add(running);
      return running;
    },
    open: async (headers: Record<string, string> = {}, at = world.api, autoPong = true): Promise<WsClient> => {
      const client = await connectWs(urlOf(at), headers, autoPong);
      clients.push(client);
      return client;
    },
  };
}
