import type { Address, Hex } from 'viem';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OtherPart } from '../../chain/part-view.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { joinObjects } from '../../runtime/joined-json.ts';
import { RequestedPools } from '../requested/requested-pools.ts';
import type { ClaimStore } from './block-claims.ts';
import { TICK_MS } from './block-readers.ts';
import { ChainReads } from './chain-reads.ts';
import { NeededTicks } from './needed-ticks.ts';
import { FORGET_MS } from './peer-requests.ts';

const POOL: Address = `0x${'0a'.repeat(20)}`;
const hashOf = (byte: string): Hex => `0x${byte.repeat(32)}`;
const block: BlockHeader = {
  number: 1n,
  hash: hashOf('01'),
  timestamp: 1n,
  parents: [hashOf('00')],
};

/** Processes that hear each other at once; all request the pool. @param take answers who asks for a block */
function processes(count: number, take: ClaimStore['take']) {
  const all: ChainReads[] = [];
  for (let index = 0; index < count; index += 1) {
    const requested = new RequestedPools({ warmMs: 60_000, now: () => 0 });
    requested.markRequested([{ address: POOL }], 'prices', false);
    const claims = { take, renew: async () => undefined, end: async () => undefined };
    const publish = (channel: 'reads' | 'requests', text: string) => {
      const signed = joinObjects(JSON.stringify({ id: `${index}` }), text);
      for (const each of all) if (each !== reads) each.take(channel, signed);
    };
    const reads: ChainReads = new ChainReads({
      requested,
      claims,
      publish,
      onHead: () => undefined,
      onFailure: () => undefined,
      now: () => performance.now(),
    });
    all.push(reads);
  }
  return all;
}

/** Two that know of each other: the first one takes the block, the second one waits for it. */
async function readerAndOther() {
  let isTaken = false;
  const [reader, other] = processes(2, async () => {
    const answer = isTaken ? 'held' : 'taken';
    isTaken = true;
    return answer;
  }) as [ChainReads, ChainReads];
  for (const each of [reader, other]) await each.tick();
  expect([await reader.claim(block), await other.claim(block)]).toEqual([true, false]);
  return { reader, other };
}

test('a read that fails at once fails where it is awaited, and is not waited for elsewhere', async () => {
  const { reader, other } = await readerAndOther();
  const found = other.find('answers', block, POOL);
  const failing = Promise.reject(new Error('refused'));
  await expect(reader.share({ kind: 'answers', block, pools: [POOL] }, failing, String)).rejects.toThrow('refused');
  expect(await found).toBeUndefined();
});

test.each([
  ['that failed', new Error('down'), []],
  [
    'that came to another part of the block',
    new OtherPart({ ...block, blockNumber: 2n, parentHash: null, feesWei: 1n }),
    ['0x02'],
  ],
])('a process with nodes %s claims the next block later, or at once', async (_, error, claimed) => {
  const taken: string[] = [];
  const [reader, other] = processes(2, async (state) => {
    taken.push(state);
    return 'taken';
  }) as [ChainReads, ChainReads];
  for (const each of [reader, other]) await each.tick();
  await reader.claim(block);
  await reader.share({ kind: 'answers', block, pools: [POOL] }, Promise.reject(error), String).catch(() => undefined);
  void reader.claim({ ...block, number: 2n, hash: '0x02', parents: [block.hash] });
  await new Promise(setImmediate);
  expect(taken.slice(1)).toEqual(claimed);
});

test('what one process reads is found by the others, and what it will not read is not waited for', async () => {
  const { reader, other } = await readerAndOther();
  const [answers, sides] = [other.find('answers', block, POOL), other.find('sides', block, POOL)];
  await reader.share({ kind: 'answers', block, pools: [POOL] }, Promise.resolve([{ a: 1 }]), JSON.stringify);
  expect(await answers).toEqual({ a: 1 });
  await reader.end(block);
  expect(await sides).toBeUndefined();
});

test('a block that was claimed for a request alone is not waited for once its reader goes on with another', async () => {
  const taken = new Set<string>();
  const [reader, other] = processes(2, async (state) => {
    const isTaken = taken.has(state);
    taken.add(state);
    return isTaken ? 'held' : 'taken';
  }) as [ChainReads, ChainReads];
  for (const each of [reader, other]) await each.tick();
  const [requested, run, last] = [block, { ...block, hash: hashOf('02') }, { ...block, hash: hashOf('03') }] as const;
  const [ofRequested, ofRun] = [vi.fn(), vi.fn()];
  await reader.find('answers', requested, POOL);
  for (const each of [reader, other]) await each.claim(run);
  await other.claim(requested);
  void other.find('answers', requested, POOL).then(ofRequested);
  const found = other.find('answers', run, POOL).then(ofRun);
  await reader.find('answers', last, POOL);
  await reader.tick();
  await new Promise(setImmediate);
  expect([ofRequested.mock.calls, ofRun.mock.calls]).toEqual([[[undefined]], []]);
  // Nothing is waited for after this test.
  await reader.end(run);
  await found;
});

test('a block whose reader is gone is taken over, and one that Redis does not give is read by each', async () => {
  const answers = ['held', 'taken'] as const;
  let asked = 0;
  const [one, other] = processes(2, async () => answers[Math.min(asked++, 1)] ?? 'held') as [ChainReads, ChainReads];
  for (const each of [one, other]) await each.tick();
  const found = one.find('answers', block, POOL);
  await vi.waitUntil(() => asked === 1);
  await new Promise(setImmediate);
  await one.tick();
  expect([await found, await one.claim(block)]).toEqual([undefined, true]);
  const down = () => Promise.reject(new Error('Redis is unreachable'));
  const [lost, peer] = processes(2, down) as [ChainReads, ChainReads];
  for (const each of [lost, peer]) await each.tick();
  expect([await lost.claim(block), await lost.find('answers', block, POOL)]).toEqual([false, undefined]);
});

test('after a part, nobody waits for a process that is gone until the claim of that ends', async () => {
  const view = { blockNumber: 2n, timestamp: 2n, parentHash: null, feesWei: 1n };
  const at = { ...block, pending: pendingPart({ view, index: null, multicall3: POOL }, 0) };
  const [one, other] = processes(2, async () => 'held') as [ChainReads, ChainReads];
  for (const each of [one, other]) await each.tick();
  expect(await one.find('answers', at, POOL)).toBeUndefined();
});

test('ticks come while a client requests a pool or another process does, and only then', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const now = () => Date.now();
  const requested = new RequestedPools({ warmMs: 1_000, now });
  const sent: string[] = [];
  const reads = new ChainReads({
    requested,
    claims: { take: async () => 'held', renew: async () => undefined, end: async () => undefined },
    publish: (channel) => sent.push(channel),
    onHead: () => undefined,
    onFailure: () => undefined,
    now,
  });
  const ticks = new NeededTicks(reads);
  requested.onRequested(() => ticks.start());
  expect(vi.getTimerCount()).toBe(0);
  requested.markRequested([{ address: POOL }], 'prices', false);
  await vi.advanceTimersByTimeAsync(TICK_MS);
  expect(sent).toEqual(['requests']);
  // That nothing is requested any more is reported, too.
  await vi.advanceTimersByTimeAsync(1_000 + TICK_MS);
  expect([sent, vi.getTimerCount()]).toEqual([['requests', 'requests'], 0]);
  ticks.start();
  reads.take('requests', JSON.stringify({ id: 'other', pools: [[POOL, 'prices', false]] }));
  await vi.advanceTimersByTimeAsync(FORGET_MS);
  expect([requested.hasElsewhere(POOL), vi.getTimerCount()]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(TICK_MS);
  expect([requested.hasElsewhere(POOL), vi.getTimerCount()]).toEqual([false, 0]);
  requested.markRequested([{ address: POOL }], 'prices', false);
  ticks.stop();
  ticks.start();
  expect(vi.getTimerCount()).toBe(0);
});
