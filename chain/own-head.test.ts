import { expect, test } from 'vitest';
import { ChainRpc } from './chain-rpc.ts';
import { FakeEndpoint } from './fake-nodes.fixture.ts';
import { RpcFailure } from './rpc-failure.ts';

const OWN = 1;
const OTHER = 56;

const hashOf = (chain: number, number: number) =>
  `0x${chain.toString(16).padStart(8, '0').padEnd(60, 'a')}${number.toString(16).padStart(4, '0')}`;

/** A node that passes requests to one chain or another, and notes the methods. */
function nodeOf(chain: number, number: number) {
  const node = { chain, number, methods: [] as string[], answersId: true };
  const answer = async (method: string) => {
    node.methods.push(method);
    if (method === 'eth_chainId') {
      if (!node.answersId)
        throw new RpcFailure('refused', 'the method is unknown', { code: -32_601, message: 'unknown' });
      return `0x${node.chain.toString(16)}`;
    }
    const [hash, parentHash] = [hashOf(node.chain, node.number), hashOf(node.chain, node.number - 1)];
    return { number: `0x${node.number.toString(16)}`, hash, parentHash, timestamp: '0x1' };
  };
  return { node, answer };
}

function chainOver(nodes: readonly ReturnType<typeof nodeOf>[]) {
  const clock = { ms: 0 };
  const options = { timeoutMs: 1_000, count: () => undefined, now: () => clock.ms };
  const endpoints = nodes.map(({ answer }) => new FakeEndpoint(answer, options));
  return { rpc: new ChainRpc(endpoints, undefined, OWN), clock };
}

test('a node of another chain gives no head from the beginning: the next one does', async () => {
  const [foreign, honest] = [nodeOf(OTHER, 9_000), nodeOf(OWN, 10)];
  const { rpc, clock } = chainOver([foreign, honest]);
  for (let number = 10; number < 30; number += 1, clock.ms += 1_000) {
    honest.node.number = number;
    const head = await rpc.head();
    expect(head.block.hash).toBe(hashOf(OWN, number));
    expect(await rpc.otherHeads(head)).toEqual([]);
    const pushed = { ...head, endpoint: null };
    expect((await rpc.otherHeads(pushed)).map(({ block }) => block.hash)).toEqual([hashOf(OWN, number)]);
  }
  // Its trials become rare.
  expect(foreign.node.methods.length).toBeLessThan(20);
});

test.each([
  ['far above', 9_000],
  ['far below', 3],
  ['next', 15],
  ['at the same height', 14],
])('a node that changes its chain to one %s gives no head until it is back', async (_where, number) => {
  const [changing, honest] = [nodeOf(OWN, 10), nodeOf(OWN, 10)];
  const { rpc, clock } = chainOver([changing, honest]);
  for (let height = 10; height < 15; height += 1) {
    changing.node.number = height;
    expect((await rpc.head()).block.hash).toBe(hashOf(OWN, height));
  }
  honest.node.number = 14;
  Object.assign(changing.node, { chain: OTHER, number });
  for (let polls = 0; polls < 5; polls += 1, clock.ms += 1_000)
    expect((await rpc.head()).block.hash).toBe(hashOf(OWN, 14));
  Object.assign(changing.node, { chain: OWN, number: 20 });
  clock.ms += 15_000;
  expect((await rpc.head()).block.hash).toBe(hashOf(OWN, 20));
});

test('a node that goes on from block to block is asked once for its chain, and again after blocks that were not seen', async () => {
  const { node, answer } = nodeOf(OWN, 10);
  const { rpc } = chainOver([{ node, answer }]);
  const asked = () => node.methods.filter((method) => method === 'eth_chainId').length;
  for (const [number, times] of [
    [10, 1],
    [10, 1],
    [11, 1],
    [12, 1],
    [14, 2],
    [15, 2],
    [13, 3],
  ] as const) {
    node.number = number;
    await rpc.head();
    expect(asked()).toBe(times);
  }
});

test('a node that does not give its chain id gives heads', async () => {
  const { node, answer } = nodeOf(OWN, 10);
  node.answersId = false;
  const { rpc } = chainOver([{ node, answer }]);
  expect((await rpc.head()).block.number).toBe(10n);
});
