import { numberToHex } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { LiveConfig, partSource as partSourceOf } from '../../config/live-schema.ts';
import { sellAndBuyPrices } from '../../devnet/actions.ts';
import { type LiveMarket, priceAround, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { type PartNode, startPartNode } from '../../devnet/parts/part-node.ts';
import type { PartTrap } from '../../devnet/parts/part-traps.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { SeenParts } from '../../quoting/parts/seen-parts.ts';
import { openWorld } from '../../test/harness/open-world.ts';
import { partSource } from '../../test/live/part-world.ts';
import { indexedQuotes } from '../indexed-quotes.fixture.ts';
import { CAPTURE_CLASSES } from '../read-schedule/pool-values.ts';
import { PartBlocks } from './part-blocks.ts';

/** What capture says of pools whose prices are in parts of a block that is not sealed yet. */

const market = openWorld(async (ends): Promise<LiveMarket & { node: PartNode }> => {
  const started = await startLiveMarket({ flatPools: 2, packedPools: 0, guards: ['none'] });
  ends.defer(started.close);
  const node = await startPartNode(started.chain, { partsPerBlock: 4 });
  ends.defer(node.stop);
  return { ...started, node };
});
const { own, index, readPrices } = indexedQuotes(market, {
  rpcUrl: () => market.node.url,
  pairs: async () => [{ token0: market.token0, token1: market.token1, decimals0: 18, decimals1: 18 }] as const,
  change: () => ({ live: LiveConfig.parse(partSource(market.node, false)), blockTimeMs: 2_000 }),
});
openWorld(async () => {
  for (const pool of market.pools) await index(pool, own.pairs[0]);
  return {};
});

function openBlocks(headUrl = market.node.url) {
  const source = partSourceOf(own.config.live);
  if (!source) throw new Error('the chain has no parts');
  const calls: string[] = [];
  const blocks = new PartBlocks({
    chain: own.config,
    source,
    rpc: openChainRpc({ ...own.config, rpcUrls: [headUrl] }, 5_000),
    budget: new CallBudget(100_000, CAPTURE_CLASSES, () => 0),
    seen: new SeenParts(),
    countCall: (_chainId, method) => calls.push(method),
    now: () => performance.now(),
    // As long as a busy machine may take.
    readMs: 10_000,
  });
  return { blocks, calls };
}

/** Shows a part with a price of the first pool: the second has none. */
async function price(hundredths: bigint): Promise<void> {
  const { node, pools } = market;
  if (node.part().index === 3) await node.nextPart();
  const { number, timeSecs } = node.part();
  node.submit(
    (
      await (pools[0] as LiveMarket['pools'][number]).maker.sign(
        { number, timeSecs, slot: 0n },
        priceAround(hundredths),
      )
    ).transaction,
  );
  await node.nextPart();
}

interface Captured {
  readonly pool: string;
  readonly status: string;
  readonly basis: string;
  readonly live: boolean | null;
  readonly bid: string | null;
}

/** What capture stores of the pools. */
async function captured(blocks: PartBlocks): Promise<readonly (Captured | undefined)[]> {
  await readPrices(blocks);
  const { rows } = await own.database.query<Captured>(
    'SELECT pool, status, basis, trades_live AS live, sell_price_x64::text AS bid FROM operator.price_health',
  );
  return market.pools.map(({ address }) => rows.find(({ pool }) => pool === address));
}

/** The bid of the first pool, as its contract gives it at the head. */
const bidAtHead = async (): Promise<string> => {
  const prices = await sellAndBuyPrices(market.chain, (market.pools[0] as LivePool).address);
  return 'refusal' in prices ? prices.refusal : String(prices.sellX64);
};

async function sealBlock(): Promise<void> {
  const { number } = market.node.part();
  while (market.node.part().number === number) await market.node.nextPart();
}

const DOWN = { status: 'feed_down', basis: 'committed', live: false, bid: null };

test('a pool that has a price in a part alone has it, live; then it is that of the sealed block', async () => {
  const { blocks, calls } = openBlocks();
  expect(await captured(blocks)).toEqual(market.pools.map(() => expect.objectContaining(DOWN)));
  await price(200n);
  const before = calls.length;
  const [first, second] = await captured(blocks);
  expect(first).toMatchObject({ status: 'healthy', basis: 'live', live: true });
  expect(second).toMatchObject(DOWN);
  // One shows the part, one reads all pools.
  expect(calls.length - before).toBe(2);
  await sealBlock();
  expect(first?.bid).toBe(await bidAtHead());
  // Its maker has set no price in the next block.
  expect((await captured(blocks))[0]).toMatchObject({
    status: 'healthy',
    basis: 'committed',
    live: false,
    bid: first?.bid,
  });
});

test.each<PartTrap>([
  { kind: 'halves' },
  { kind: 'null' },
  { kind: 'callsBehind', blocks: 2n },
  { kind: 'allBehind', blocks: 0n },
  { kind: 'otherParent' },
  { kind: 'otherContext' },
  { kind: 'oldState', blocks: 0n },
  { kind: 'oldState', blocks: 2n },
])('a node in the trap $kind gives no price of another state: what was stored before stays', async (trap) => {
  const { blocks } = openBlocks();
  for (const _ of [1, 2]) await sealBlock();
  await price(205n);
  const [right] = await captured(blocks);
  expect(right).toMatchObject({ basis: 'live', live: true });
  market.node.trap(trap);
  for (const _ of [1, 2, 3]) {
    const [seen, other] = await captured(blocks);
    expect(other).toMatchObject({ status: 'feed_down', basis: 'committed' });
    // Without a further call, half of what this node shows is the block before its first part.
    if (trap.kind === 'halves' && seen?.basis === 'committed') expect(seen).toMatchObject(DOWN);
    else expect(seen).toEqual(right);
  }
  market.node.trap();
  expect((await captured(blocks))[0]).toEqual(right);
});

test('a node that shows the block after the next one gives no price, however often', async () => {
  const front = await startRpcProxy(market.node.url);
  onTestFinished(front.stop);
  await price(206n);
  const { blocks } = openBlocks(front.url);
  expect(await blocks.now()).toBeDefined();
  const block = numberToHex((await market.chain.client.getBlockNumber()) - 1n);
  front.misbehave({ kind: 'staleHead', block }, ({ params }) => params.includes('latest'));
  for (const _ of [1, 2]) expect(await blocks.now()).toBeUndefined();
});

test('of a pool whose part was not read it is unknown whether it trades there', async () => {
  const { blocks } = openBlocks();
  await price(207n);
  await sealBlock();
  market.node.trap({ kind: 'allBehind', blocks: 0n });
  await own.database.query('DELETE FROM operator.price_health');
  const [first, second] = await captured(blocks);
  expect(first).toMatchObject({ status: 'healthy', basis: 'committed', live: null, bid: await bidAtHead() });
  expect(second).toBeUndefined();
  market.node.trap();
  expect(await captured(blocks)).toEqual([
    expect.objectContaining({ status: 'healthy', basis: 'committed', live: false }),
    expect.objectContaining(DOWN),
  ]);
});
