import { afterEach, expect, test } from 'vitest';
import { startPartSockets } from '../../devnet/parts/part-sockets.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { PushedPart } from './part-feed.ts';
import { openPartSocket, readPushedPart } from './part-socket.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const part = { number: 10n, timeSecs: 1_020n, parentHash: '0x09', index: 3, transactions: [] } as const;
const block = { number: '0xa', hash: '0xab' } as const;

test.each([
  ['block', { blockNumber: 10n, index: null }],
  ['payload', { blockNumber: 10n, index: 3 }],
] as const)('parts come in the form of a %s', async (form, expected) => {
  const server = await startPartSockets(1, form);
  const { promise, resolve } = Promise.withResolvers<PushedPart | undefined>();
  stops.push(
    openPartSocket({ url: server.wsUrl, onPart: resolve, logger: createLogger('test', 'silent') }),
    server.stop,
  );
  await expect.poll(() => server.count('newFlashblocks')).toBe(1);
  server.showPart(part, block);
  expect(await promise).toEqual(expected);
});

test('other messages are of no known part', () => {
  for (const other of [null, 'x', {}, { number: 10 }, { index: 1, metadata: {} }, { number: `0x${'f'.repeat(17)}` }])
    expect(readPushedPart(other)).toBeUndefined();
});
