import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A node's WebSocket that pushes the heads that a test names. */
export interface TestNode {
  readonly url: string;
  /** What the node does wrong: refuses subscriptions, or answers with what is no JSON. */
  readonly faults: Set<'refuse' | 'babble'>;
  readonly subscribers: () => number;
  /** Pushes a head to all subscribers, from now or from this many seconds ago. */
  readonly pushHead: (number: number, ageSecs?: number) => void;
  /** Ends all connections. */
  readonly cut: () => void;
  readonly stop: () => Promise<void>;
}

export async function startTestNode(chainId: number): Promise<TestNode> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const subscribers = new Set<WebSocket>();
  const faults: TestNode['faults'] = new Set();
  server.on('connection', (socket) => {
    socket.on('close', () => subscribers.delete(socket));
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      if (faults.has('babble')) return socket.send('<html>');
      if (method === 'eth_chainId') return socket.send(JSON.stringify({ id, result: `0x${chainId.toString(16)}` }));
      if (faults.has('refuse')) return socket.send(JSON.stringify({ id, error: { code: -32601, message: 'no' } }));
      subscribers.add(socket);
      return socket.send(JSON.stringify({ id, result: '0x1' }));
    });
  });
  const cut = () => {
    for (const socket of server.clients) socket.terminate();
    subscribers.clear();
  };
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    subscribers: () => subscribers.size,
    pushHead: (number, ageSecs = 0) => {
      const result = headerOf(number, ageSecs);
      const message = { method: 'eth_subscription', params: { subscription: '0x1', result } };
      for (const socket of subscribers) socket.send(JSON.stringify(message));
    },
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const headerOf = (number: number, ageSecs: number) => ({
  number: `0x${number.toString(16)}`,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  parentHash: `0x${(number - 1).toString(16).padStart(64, '0')}`,
  timestamp: `0x${(Math.floor(Date.now() / 1_000) - ageSecs).toString(16)}`,
  logsBloom: '0xb100',
});
