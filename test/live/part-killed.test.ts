import { randomUUID } from 'node:crypto';
import { toFunctionSelector } from 'viem';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LiveConfig } from '../../config/live-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf } from './live-world.ts';
import { quotesOf } from './part-quotes.ts';
import { partSource, startPartWorld } from './part-world.ts';
import { startApiProcess } from './start-api-process.ts';

/* A process that reads parts for others is killed, whatever it is about to do. */

/** The node shows so many parts at most before others quote one of them, and as many as a quote was late before. */
const MAX_PARTS = 2;
/** A process that waits for its turn on a busy machine says nothing of the rule: so often, at most. */
const ROUNDS = 3;
const PARTS_PER_BLOCK = 10;
/** So many more show which of two processes reads. */
const MORE_CALLS = 10;
const CHAIN_ID_CALL = toFunctionSelector('getChainId()').slice(2);

const world = startedWorld(() => startPartWorld({ guards: ['none'], node: { form: 'payload' } }));

/** Starts a process with a way of its own to the nodes. */
async function startProcess(prefix: string) {
  const { market, node, config } = world;
  const proxy = await startRpcProxy(node.url);
  onTestFinished(proxy.stop);
  const live = LiveConfig.parse(partSource({ ...node, url: proxy.url }));
  const { base, kill } = await startApiProcess(market, { ...config, live }, prefix);
  return {
    kill,
    /** Calls that show the part: they alone ask for the chain, too. */
    calls: () => proxy.requests.filter(({ params: [call] }) => JSON.stringify(call).includes(CHAIN_ID_CALL)).length,
    /** Counts the parts up to that of all quotes; NaN while one is committed, or of no known part. */
    async quotedParts() {
      const all = await quotesOf(world, {}, batchesOf({ base }));
      const parts = all.map(({ basis }) =>
        partsUntil(basis?.targetBlockNumber ?? Number.NaN, basis?.source?.part ?? Number.NaN),
      );
      return Math.min(...parts);
    },
  };
}

/** Counts the parts up to the newest. */
function partsShown(): number {
  const { number, index } = world.node.part();
  return partsUntil(number, index);
}

const partsUntil = (number: bigint | number, index: number): number => Number(number) * PARTS_PER_BLOCK + index;

test('when the process that reads is killed, the other one quotes the parts after that', {
  timeout: 120_000,
}, async () => {
  const { node, market } = world;
  let hundredths = 0n;
  const end = node.run(async ({ number, timeSecs, index }) => {
    // What comes next is the first part of another block.
    if (index === PARTS_PER_BLOCK - 1) return;
    hundredths = (hundredths + 1n) % 50n;
    for (const { maker } of market.pools)
      node.submit((await maker.sign({ number, timeSecs, slot: 0n }, priceAround(190n + hundredths))).transaction);
  });
  onTestFinished(end);
  const beyond: number[] = [];
  while (beyond.length < ROUNDS && Math.min(...beyond) !== 0) beyond.push(await partsBeyond());
  expect(Math.min(...beyond)).toBe(0);
});

/** Kills the one of two processes that reads. @returns how many parts later the other one quotes than it may */
async function partsBeyond(): Promise<number> {
  const prefix = randomUUID();
  const [one, other] = await Promise.all([startProcess(prefix), startProcess(prefix)]);
  await vi.waitFor(async () =>
    expect(await Promise.all([one.quotedParts(), other.quotedParts()])).not.toContain(Number.NaN),
  );
  const before = one.calls() - other.calls();
  const more = () => one.calls() - other.calls() - before;
  // Both are asked for quotes meanwhile. On a busy machine these are some parts late.
  const late: number[] = [];
  await vi.waitUntil(async () => {
    const quoted = await Promise.all([one.quotedParts(), other.quotedParts()]);
    if (!quoted.includes(Number.NaN)) late.push(partsShown() - Math.min(...quoted));
    return Math.abs(more()) >= MORE_CALLS;
  });
  const [reading, left] = more() > 0 ? [one, other] : [other, one];
  const shown = partsShown();
  const killedAt = performance.now();
  const killed = reading.kill();
  await vi.waitFor(async () => expect(await left.quotedParts()).toBeGreaterThan(shown), {
    interval: 10,
  });
  const tookMs = performance.now() - killedAt;
  const parts = partsShown() - shown;
  await killed;
  const latest = Math.max(...late);
  if (process.env.LIVE_FILLS) process.stdout.write(`${Math.round(tookMs)} ms, ${parts} parts, ${latest} late before\n`);
  await left.kill();
  return Math.max(0, parts - MAX_PARTS - latest);
}
