import { expect, test } from 'vitest';
import { fakeNodes } from './fake-nodes.fixture.ts';
import { OtherPart } from './part-view.ts';
import { RpcFailure } from './rpc-failure.ts';

const otherPart = (blockNumber: bigint, feesWei: bigint) =>
  new OtherPart({ blockNumber, timestamp: 1_000n + 2n * blockNumber, parentHash: null, feesWei });
const down = new RpcFailure('unreachable', 'no connection');
const refused = new RpcFailure('refused', 'block not found');
const [older, newer, next] = [otherPart(10n, 5n), otherPart(10n, 6n), otherPart(11n, 1n)];

test.each<[string, readonly RpcFailure[], RpcFailure]>([
  ['a node at another part, then one that is down', [older, down], older],
  ['the other way round', [down, older], older],
  ['a node at another part, then one that refuses', [older, refused], older],
  ['two nodes at other parts of a block', [newer, older], newer],
  ['the other way round', [older, newer], newer],
  ['two nodes at other blocks', [next, newer], next],
  ['one that refuses, then one that is down', [refused, down], refused],
])('%s: the failure that says more is passed on', async (_, failures, passedOn) => {
  const nodes = failures.map((failure) => () => Promise.reject(failure));
  await expect(fakeNodes(nodes, () => 0).request('eth_call', [], String)).rejects.toBe(passedOn);
});
