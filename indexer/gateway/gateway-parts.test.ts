import { beforeAll, expect, test, vi } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { openWorld } from '../../test/harness/open-world.ts';
import { muteRedials, openPonder } from './ponder-client.fixture.ts';

beforeAll(muteRedials);

const world = openWorld(async (ends) => {
  const anvil = await startAnvil({ chainId: 1, args: ['--order', 'fifo'] });
  ends.defer(anvil.stop);
  const chain = await connectDevChain(anvil.url);
  const node = await startPartNode(chain, { partsPerBlock: 3 });
  ends.defer(node.stop);
  return { chain, node };
});

test('a socket that pushes parts of blocks as heads makes no reorganisation for Ponder', async () => {
  const { chain, node } = world;
  const { rpc } = await openPonder([node.url], [node.wsUrl]);
  const seen: { readonly number: string; readonly hash: string }[] = [];
  const failures = vi.fn();
  rpc.subscribe({ onBlock: (block) => seen.push(block), onError: failures });
  await vi.waitUntil(() => seen.length > 0 && node.subscriptions('newHeads') === 1);
  for (let block = 0; block < 4; block += 1) {
    const { number } = node.part();
    while (node.part().number === number) {
      // So that each part has another hash.
      const { trader: from, taker: to } = chain.roles;
      await request(chain.rpcUrl, 'eth_sendTransaction', [{ from, to, value: '0x1' }]);
      await node.nextPart();
    }
    await vi.waitUntil(() => seen.some((each) => BigInt(each.number) === number));
  }
  const sealed = await Promise.all(
    seen.map(async ({ number }) => (await chain.client.getBlock({ blockNumber: BigInt(number) })).hash),
  );
  expect(seen.map(({ hash }) => hash)).toEqual(sealed);
  expect(failures).not.toHaveBeenCalled();
});
