import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { sseTransport } from '../../api/stream/stream.ts';
import type { StreamTransport } from '../../api/stream/types.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';
import { settle, stopTimers } from './simulated-time.ts';

const RICH = { callsPerMinute: 100_000 };

stopTimers();

test('who does not read gets the latest only, and is terminated after ten seconds; others get each block', async () => {
  const chain = new SimulatedChain(2);
  const { heads, stream } = chain.startProcess(RICH);
  const [good, slow] = [0, 1].map(() => new SimulatedClient({ pools: chain.pools, depth: false, hasKey: false })) as [
    SimulatedClient,
    SimulatedClient,
  ];
  for (const client of [good, slow]) await client.connect(stream);
  const mine = async () => {
    chain.mine([0]);
    heads.push(chain.head);
    await settle();
    stream.tick();
  };
  await settle();
  slow.isSlow = true;
  for (let block = 0; block < 8; block++) await mine();
  expect(good.hash).toBe(chain.head.block.hash);
  expect(good.book.events.filter((event) => event === 'update')).toHaveLength(8);
  slow.drain();
  expect(slow.hash).toBe(chain.head.block.hash);
  expect(slow.book.events.filter((event) => event === 'update').length).toBeLessThan(8);
  slow.isSlow = true;
  for (let block = 0; block < 16; block++) await mine();
  expect([slow.isOpen, good.isOpen, stream.subscriberCount]).toEqual([false, true, 1]);
});

test('what a socket does not take is known as unsent, and it can be terminated', async () => {
  vi.useRealTimers();
  const opened = Promise.withResolvers<StreamTransport>();
  const server = createServer((_, response) => opened.resolve(sseTransport(response))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const transport = await opened.promise;
  const data = JSON.stringify('x'.repeat(64 * 1024));
  for (let sent = 0; transport.unsentBytes < 256 * 1024; sent++) {
    if (sent > 1_000) throw new Error('a socket that nobody reads takes everything');
    transport.send('update', 'e-1', data);
    await new Promise(setImmediate);
  }
  transport.terminate();
  socket.resume();
  await once(socket, 'close');
  await new Promise((resolve) => server?.close(resolve));
});
