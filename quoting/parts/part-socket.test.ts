import type { Address } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { type PartSockets, startPartSockets } from '../../devnet/parts/part-sockets.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { PushedPart } from './part-pushes.ts';
import { openPartSocket, type PartSocketOptions } from './part-socket.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const part = { number: 10n, timeSecs: 1_020n, parentHash: '0x09', index: 3, transactions: [] } as const;
const block = { number: '0xa', hash: '0xab', parentHash: '0x09', transactions: ['0x01'] } as const;
const ACCOUNT: Address = '0x0000000000000000000000000000000000000001';

/** What a socket over these tells, in order. */
function follow(server: PartSockets, options: Partial<Pick<PartSocketOptions, 'isWanted' | 'loggingAccounts'>> = {}) {
  const told: (PushedPart | 'log' | undefined)[] = [];
  const close = openPartSocket({
    url: server.wsUrl,
    onPart: (each) => told.push(each),
    onLog: () => told.push('log'),
    isWanted: () => true,
    loggingAccounts: async () => [ACCOUNT],
    ...options,
    logger: createLogger('test', 'silent'),
  });
  stops.push(close, server.stop);
  return told;
}

test.each([
  ['block', null],
  ['payload', 3],
] as const)(
  'parts come in the form of a %s, and whether anything happened since the one before',
  async (form, index) => {
    const server = await startPartSockets(1, form);
    const told = follow(server);
    await expect.poll(() => server.count('newFlashblocks')).toBe(1);
    server.showPart(part, block);
    server.showPart({ ...part, index: 4 }, block);
    server.showPart({ ...part, index: 5, transactions: ['0x02'] }, {
      ...block,
      transactions: ['0x01', '0x02'],
    } as object as typeof block);
    await expect.poll(() => told.length).toBe(3);
    const ofBlock = (at: number, isUnchanged: boolean) => ({
      blockNumber: 10n,
      index: index && index + at,
      isUnchanged,
    });
    expect(told).toEqual([ofBlock(0, false), ofBlock(1, true), ofBlock(2, false)]);
  },
);

test('while nobody wants quotes, it is not read which parts come', async () => {
  const server = await startPartSockets(1, 'payload');
  let isWanted = false;
  const told = follow(server, { isWanted: () => isWanted });
  await expect.poll(() => server.count('newFlashblocks')).toBe(1);
  const show = async (index: number) => {
    const shown = told.length;
    server.showPart({ ...part, index }, block);
    await expect.poll(() => told.length).toBe(shown + 1);
  };
  for (const index of [3, 4]) await show(index);
  isWanted = true;
  for (const index of [5, 6]) await show(index);
  // Since it is not known of which part the fourth one was, something may have happened in the fifth.
  const parts = [5, 6].map((index) => ({ blockNumber: 10n, index, isUnchanged: index === 6 }));
  expect(told).toEqual([undefined, undefined, ...parts]);
});

test.each(['logs', 'heads'] as const)(
  'it subscribes where parts are pushed as %s while nobody wants quotes',
  async (form) => {
    const server = await startPartSockets(1, form);
    follow(server, { isWanted: () => false });
    await expect.poll(() => server.count('newHeads')).toBe(1);
  },
);

test('a block with thousands of transactions is one part', async () => {
  const server = await startPartSockets(1, 'block');
  const told = follow(server);
  await expect.poll(() => server.count('newFlashblocks')).toBe(1);
  const input = `0x${'0'.repeat(1_000)}`;
  const transactions = Array.from({ length: 3_000 }, (_, index) => ({ hash: `0x${index}`, gas: '0x5209', input }));
  for (const _ of [1, 2]) server.showPart(part, { ...block, transactions } as object as typeof block);
  await expect.poll(() => told.map((each) => typeof each === 'object' && each.isUnchanged)).toEqual([false, true]);
});

test('where a node pushes parts as heads, each is one', async () => {
  const server = await startPartSockets(1, 'heads');
  const told = follow(server);
  await expect.poll(() => server.count('newHeads')).toBe(1);
  for (const _ of [1, 2]) server.showPart(part, { ...block, transactions: undefined } as object as typeof block);
  const pushed = { blockNumber: 10n, index: null, isUnchanged: false };
  await expect.poll(() => told).toEqual([pushed, pushed]);
});

test('where a node pushes no parts, heads and logs come', async () => {
  const server = await startPartSockets(1, 'logs');
  const told = follow(server);
  await expect.poll(() => [server.count('newHeads'), server.count('pendingLogs')]).toEqual([1, 1]);
  server.showPart(part, block);
  server.showLog({ address: ACCOUNT, topics: [] });
  server.showHead(block);
  await expect.poll(() => told).toEqual(['log', { blockNumber: 10n, index: null, isUnchanged: false }]);
});

test('logs are subscribed to once contracts are known, by the head that comes then', async () => {
  const server = await startPartSockets(1, 'logs');
  const asked = { times: 0 };
  const loggingAccounts = async () => {
    asked.times += 1;
    if (asked.times === 1) throw new Error('pools are not known');
    return asked.times === 2 ? [] : [ACCOUNT];
  };
  const told = follow(server, { loggingAccounts });
  await expect.poll(() => server.count('newHeads')).toBe(1);
  for (const heads of [1, 2]) {
    server.showHead(block);
    await expect.poll(() => [told.length, asked.times]).toEqual([heads, heads + 1]);
  }
  await expect.poll(() => server.count('pendingLogs')).toBe(1);
  server.showHead(block);
  await expect.poll(() => told.length).toBe(3);
  expect([asked.times, server.count('pendingLogs')]).toEqual([3, 1]);
});
