import { encodeFunctionData, type Hex, hexToBigInt } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { RpcError, request } from '../json-rpc.ts';
import { MessageReader } from '../live/live-forms.fixture.ts';
import { type LiveMarket, priceAround, startLiveMarket } from '../live/live-market.fixture.ts';
import { feedWords, priceRegistryAbi } from '../live/registry.ts';
import { type PartNode, startPartNode } from './part-node.ts';
import type { PartTrap } from './part-traps.ts';

let market: LiveMarket;
let node: PartNode;

beforeAll(async () => {
  market = await startLiveMarket({ flatPools: 1, packedPools: 0 });
  node = await startPartNode(market.chain);
});

afterEach(() => node.trap());

afterAll(async () => {
  await node.stop();
  await market.close();
});

const pool = () => market.pools[0] as LiveMarket['pools'][number];

/** Lets the next part carry a price, and shows it. */
async function nextPrice(hundredths: bigint) {
  const { number, timeSecs } = node.part();
  const { transaction } = await pool().maker.sign({ number, timeSecs, slot: 0n }, priceAround(hundredths));
  node.submit(transaction);
  return node.nextPart();
}

/** The feed of the pool in a call: its stamp and bid. */
async function feedAt(tag: string): Promise<readonly [stamp: bigint, bidX64: bigint]> {
  const data = encodeFunctionData({ abi: priceRegistryAbi, functionName: 'feeds', args: [pool().feedId] });
  const words = await request<Hex>(node.url, 'eth_call', [{ to: market.registry, data }, tag]);
  return [hexToBigInt(`0x${words.slice(2, 66)}`), hexToBigInt(`0x${words.slice(66, 130)}`)];
}

/** What a call sees of its block: number, time, parent and what fees were paid. */
async function contextAt(tag: string) {
  // NUMBER TIMESTAMP BLOCKHASH(NUMBER - 1) BALANCE(0), returned as four words.
  const code = '0x435f52426020526001430340604052' + '5f316060526080' + '5ff3';
  const words = await request<Hex>(node.url, 'eth_call', [{ data: code }, tag]);
  const at = (word: number) => hexToBigInt(`0x${words.slice(2 + 64 * word, 66 + 64 * word)}`);
  return { number: at(0), timeSecs: at(1), parent: at(2), fees: at(3) };
}

test('a call at the tag pending sees the newest part, and one state with number, time and parent of its block', async () => {
  const first = await nextPrice(201n);
  const before = await contextAt('pending');
  expect(before).toMatchObject({
    number: first.number,
    timeSecs: first.timeSecs,
    parent: hexToBigInt(first.parentHash),
  });
  expect(await feedAt('pending')).toEqual([first.timeSecs, priceAround(201n).bidX64]);
  const second = await nextPrice(202n);
  expect(second).toMatchObject({ number: first.number, index: first.index + 1 });
  expect(await feedAt('pending')).toEqual([first.timeSecs, priceAround(202n).bidX64]);
  expect((await contextAt('pending')).fees).toBeGreaterThan(before.fees);
  expect((await feedAt('latest'))[0]).not.toBe(first.timeSecs);
});

test('the sealed block has number, time and transactions of its parts', async () => {
  const shown = [...(await nextPrice(203n)).transactions];
  const { number, timeSecs } = node.part();
  while (node.part().number === number) shown.push(...(await node.nextPart()).transactions);
  const head = await market.chain.client.getBlock({ blockNumber: number });
  expect(head).toMatchObject({ number, timestamp: timeSecs });
  expect(head.transactions.length).toBeGreaterThanOrEqual(shown.length);
  expect(node.part()).toMatchObject({ number: number + 1n, index: 0, parentHash: head.hash });
});

test.each(['block', 'payload'] as const)('parts are pushed in the form of a %s', async (form) => {
  const other = await startPartNode(market.chain, { form });
  const reader = await MessageReader.open(other.wsUrl);
  reader.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newFlashblocks'] });
  await reader.next();
  const { number, index } = await other.nextPart();
  const { params } = JSON.parse(await reader.next());
  if (form === 'block') expect(params.result).toMatchObject({ number: `0x${number.toString(16)}` });
  else
    expect(params.result).toMatchObject({
      index,
      metadata: { block_number: Number(number), prev_flashblock_id: `${number}-${index - 1}` },
    });
  expect(other.subscriptions('newFlashblocks')).toBe(1);
  await other.stop();
});

const trapsOf = (): [PartTrap, (context: Awaited<ReturnType<typeof contextAt>>) => void][] => {
  const { number, timeSecs } = node.part();
  return [
    [{ kind: 'callsBehind', blocks: 3n }, (seen) => expect(seen.number).toBe(number - 4n)],
    [{ kind: 'allBehind', blocks: 0n }, (seen) => expect(seen.number).toBe(number - 1n)],
    [{ kind: 'otherContext' }, (seen) => expect(seen).toMatchObject({ number: number - 1n, timeSecs: timeSecs - 2n })],
    [{ kind: 'otherParent' }, (seen) => expect(seen.parent).toBe(hexToBigInt(`0x${'ab'.repeat(32)}`))],
  ];
};

test('calls fall into traps on request', async () => {
  await nextPrice(204n);
  for (const [trap, check] of trapsOf()) {
    node.trap(trap);
    check(await contextAt('pending'));
  }
  node.trap({ kind: 'null' });
  expect(await request(node.url, 'eth_getBlockByNumber', ['pending', false])).toBeNull();
  await expect(contextAt('pending')).rejects.toThrow(RpcError);
});

test('every second call sees the state before the first part, in the same block', async () => {
  await nextPrice(205n);
  const whole = await contextAt('pending');
  node.trap({ kind: 'halves' });
  const [one, other] = [await contextAt('pending'), await contextAt('pending')];
  expect(one).toEqual({ ...whole, fees: one.fees });
  expect(one.fees).toBeLessThan(whole.fees);
  expect(other).toEqual(whole);
});

test('storage diverges on request', async () => {
  const { timeSecs } = await nextPrice(206n);
  const stateDiff = feedWords(pool().feedId, timeSecs, priceAround(207n));
  node.trap({ kind: 'divergent', overrides: { [market.registry]: { stateDiff } } });
  expect((await feedAt('pending'))[1]).toBe(priceAround(207n).bidX64);
});

test('parts of a block come before the block below on request', async () => {
  stopTime();
  const early = await startPartNode(market.chain, { earlyMs: 60 });
  const { number } = early.part();
  while (early.part().number === number) await early.nextPart();
  const headNow = () => request<{ number: Hex }>(early.url, 'eth_getBlockByNumber', ['latest', false]);
  await pass(59);
  expect(BigInt((await headNow()).number)).toBe(number - 1n);
  await pass(1);
  expect(BigInt((await headNow()).number)).toBe(number);
  await early.stop();
});
