import { afterEach, expect, test, vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { ACCOUNT, liveChain, MAX_AGE_MS, word } from './live-chain.fixture.ts';

afterEach(() => vi.useRealTimers());

test('listeners get overrides of a block at most four times a second, the newest, and the committed head when they end', async () => {
  const { heads, push, frame } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  for (let value = 1; value <= 20; value += 1) {
    frame(11, value);
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(announced.length).toBeLessThanOrEqual(6);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced.at(-1)).toBe(word(20));
  await vi.advanceTimersByTimeAsync(MAX_AGE_MS);
  expect(announced.at(-1)).toBeUndefined();
});

test('a change after frames that change nothing is passed on at once', async () => {
  const { heads, push, frame } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  for (let repeat = 0; repeat < 10; repeat += 1) {
    await vi.advanceTimersByTimeAsync(100);
    frame(11, 1);
  }
  frame(11, 2);
  expect(announced.at(-1)).toBe(word(2));
});

test('listeners hear that overrides ended which only a request saw', async () => {
  const { heads, push, frame, cancel } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  expect((await heads.head()).block.pending?.blockNumber).toBe(11n);
  cancel(11);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced).toEqual([undefined, undefined]);
});

test('a request tells listeners nothing, also where a busy process is late to', async () => {
  const { heads, push, frame, now } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  vi.setSystemTime(now() + 1_000);
  expect(heads.current?.block.pending?.blockNumber).toBe(11n);
  expect(announced).toEqual([undefined]);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced).toEqual([undefined, word(1)]);
});

test('protected accounts are looked for only while there are overrides', async () => {
  const { heads, push, frame, lookUps } = liveChain();
  await push(10, 0);
  expect(heads.current?.block.pending).toBeUndefined();
  expect(lookUps.count).toBe(0);
  frame(11, 1);
  expect(heads.current?.block.pending).toBeDefined();
  expect(lookUps.count).toBeGreaterThan(0);
});

test('a new head replaces the block being built at once', async () => {
  const { heads, push, frame } = liveChain();
  await push(10, 0);
  frame(11, 1);
  const before = heads.current?.block;
  expect(before?.pending?.blockNumber).toBe(11n);
  await push(11, 0);
  expect(heads.current?.block.pending).toBeUndefined();
  expect(before && heads.isTooOld(before)).toBe(true);
});

test('a frame that names a block one too high costs nothing, and no older block is given after one that was given', async () => {
  const { heads, push, frame } = liveChain();
  await push(10, 0);
  const shown = () => heads.current?.block.pending?.blockNumber;
  for (let value = 1; value <= 20; value += 1) {
    frame(value % 3 ? 11 : 12, value);
    expect(shown()).toBe(11n);
    await vi.advanceTimersByTimeAsync(100);
  }
  // The head is late: sources build the block after the next one.
  for (let value = 1; value <= 30; value += 1) {
    frame(12, value);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(shown()).toBe(12n);
  frame(11, 1);
  expect(shown()).toBeUndefined();
  await push(11, 0);
  expect(shown()).toBe(12n);
  await push(11, 1);
  frame(12, 2);
  expect(shown()).toBe(12n);
  await push(10, 2);
  frame(11, 3);
  expect(shown()).toBe(11n);
});

test('a refusal suspends nothing until nodes gave something of the committed block: they may not have it yet', async () => {
  const { heads, tracker, push, frame, suspensions } = liveChain();
  await push(10, 0);
  frame(11, 1);
  const head = heads.current as ReportedHead;
  const failure = new RpcFailure('refused', 'header not found');
  expect(heads.suspend(head, failure)).toBe(true);
  expect([suspensions, heads.current]).toEqual([[], head]);
  tracker.confirm(head.block);
  expect(heads.suspend(head, failure)).toBe(false);
  expect([suspensions.length, heads.current?.block.pending]).toEqual([2, undefined]);
});

test('after nodes ignored the overrides quotes are committed for a while, and one failure is counted and logged', async () => {
  const { heads, push, frame, suspensions } = liveChain();
  await push(10, 0);
  frame(11, 1);
  const head = heads.current as ReportedHead;
  const failure = new RpcFailure('ignored', 'a node ignores overrides');
  for (const _ of [1, 2]) heads.suspend(head, failure);
  heads.suspend(head, new RpcFailure('timeout', 'a node is slow'));
  expect(suspensions).toEqual(['counted', { err: failure }]);
  expect(heads.current?.block.pending).toBeUndefined();
  await vi.advanceTimersByTimeAsync(60_000);
  frame(11, 2);
  expect(heads.current?.block.pending?.blockNumber).toBe(11n);
});
