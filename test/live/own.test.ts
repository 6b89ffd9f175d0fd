import { Redis } from 'ioredis';
import { type Hex, keccak256, parseTransaction } from 'viem';
import { beforeEach, expect, test, vi } from 'vitest';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { createMaker, type QuoteUpdate } from '../../devnet/live/maker.ts';
import type { PendingBlock } from '../../devnet/live/pending-block.ts';
import { encodeOwnUpdate, ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { startedWorld } from '../harness/open-world.ts';
import { newUuid, signedTx } from '../pamm/sample-updates.ts';
import { kindsOf, PLAIN_CHAIN, startOwnWorld, usedWords } from './own-world.ts';

/* Quotes from nothing but the updates that makers send to this service for builders. */

const world = startedWorld(() => startOwnWorld({ flatPools: 2, packedPools: 2 }));
beforeEach(async () => {
  await world.market.builder.buildBlock();
});

/** Signed for the block being built; the builder of the market does not get it. */
const sign = ({ maker }: LivePool, hundredths: bigint): Promise<QuoteUpdate> =>
  maker.sign(world.market.builder.block(), priceAround(hundredths));

const blockAfter = ({ number, timeSecs, slot }: PendingBlock): PendingBlock => ({
  number: number + 1n,
  timeSecs: timeSecs + 12n,
  slot: slot + 1n,
});

const pools = () => world.market.pools;
const LIVE = ['live', 'live', 'live', 'live'];
const COMMITTED = ['committed', 'committed', 'committed', 'committed'];

const untilKinds = (kinds: readonly string[]) =>
  vi.waitFor(
    async () => {
      const batch = await world.batch();
      expect(kindsOf(batch)).toEqual(kinds);
      return batch;
    },
    { interval: 20 },
  );

test('updates of keys that publish make quotes live, with exactly their words', async () => {
  const key = await world.issue(true);
  const updates = await Promise.all(pools().map((pool, index) => sign(pool, 198n + BigInt(index))));
  await untilKinds(COMMITTED);
  for (const update of updates) await world.sendUpdate(key, update);
  const batch = await untilKinds(LIVE);
  expect(usedWords(batch, world.market.registry)).toEqual(Object.assign({}, ...updates.map(({ words }) => words)));
  expect(Object.keys(batch.overrides?.stateOverride ?? {})).toEqual([world.market.registry]);
  const target = world.market.builder.block();
  for (const result of batch.results) {
    expect(result).toMatchObject({
      quote: { basis: { targetBlockNumber: Number(target.number), targetTimestamp: Number(target.timeSecs) } },
    });
  }
  // Their block is over: none of them is good for the next one.
  await world.market.builder.buildBlock();
  await untilKinds(COMMITTED);
});

test('a newer update takes the place of an older one, which changes nothing any more; a cancel ends it', async () => {
  const key = await world.issue(true);
  const [pool, other] = pools() as [LivePool, LivePool];
  const [first, second, late] = await Promise.all([sign(pool, 199n), sign(pool, 201n), sign(pool, 203n)]);
  const wordsAre = (...updates: readonly QuoteUpdate[]) =>
    expect
      .poll(async () => usedWords(await world.batch(), world.market.registry), { interval: 20 })
      .toEqual(Object.assign({}, ...updates.map(({ words }) => words)));
  /** Waits for an update of the other pool, which comes after all that was sent: a key's updates are traced in turn. */
  const untilPassed = async (hundredths: bigint) => {
    const marker = await sign(other, hundredths);
    await world.sendUpdate(key, marker);
    await wordsAre(second, marker);
  };
  const sent = await world.sendUpdate(key, first, { seq: 5 });
  await wordsAre(first);
  await world.sendUpdate(key, second, { uuid: sent.uuid, seq: 6 });
  await wordsAre(second);
  await world.sendUpdate(key, late, { uuid: sent.uuid, seq: 4 });
  await untilPassed(205n);
  // Of another key: the uuid is not its own.
  await world.send({ ...sent, key: await world.issue(true), tx: '0x', seq: 7 });
  await untilPassed(206n);
  // Newer than the words of the other pool, which would end before it if nothing renewed them.
  const last = await sign(pool, 204n);
  await world.sendUpdate(key, last, { uuid: sent.uuid, seq: 7 });
  await expect.poll(async () => usedWords(await world.batch(), world.market.registry)).toMatchObject(last.words);
  expect((await world.send({ ...sent, tx: '0x', seq: 8 })).status).toBe(200);
  await untilKinds(['committed', 'live', ...COMMITTED.slice(2)]);
});

test('an update that reverts, is of another block or of a key that does not publish makes nothing live', async () => {
  const publishing = await world.issue(true);
  const secret = await world.issue(false);
  const [one, two, three, four] = pools() as [LivePool, LivePool, LivePool, LivePool];
  const everything = world.admin.duplicate(); // Channels are those of all databases of the server.
  const published: string[] = [];
  await everything.psubscribe('*');
  everything.on('pmessage', (_pattern, channel: string, text: string) => published.push(`${channel} ${text}`));
  const own = () => published.filter((text) => text.startsWith(`${world.prefix}:own-updates`));
  const block = world.market.builder.block();
  const { registry, chain } = world.market;
  const intruder = createMaker(chain, {
    privateKey: keccak256(one.feedId),
    registry,
    venue: one.venue,
    feedId: two.feedId,
  });
  expect(intruder.address).toBe(one.maker.address);
  await world.sendUpdate(publishing, await intruder.sign(block, priceAround(200n)));
  const later = await three.maker.sign(blockAfter(block), priceAround(200n));
  const sent = await world.sendUpdate(publishing, later);
  // The uuid is another holder's: no builder gets this one either.
  expect((await world.send({ ...sent, key: await world.issue(true), seq: 2 })).text).toContain('another key');
  const unpublished = await sign(two, 200n);
  await world.sendUpdate(secret, unpublished);
  const elsewhere = { transaction: await signedTx(PLAIN_CHAIN), block };
  await world.sendUpdate(publishing, elsewhere, { chainId: PLAIN_CHAIN });
  // Whatever becomes of them does before this one, which comes after them, is live.
  await world.sendUpdate(publishing, await sign(four, 200n));
  await untilKinds([...COMMITTED.slice(1), 'live']);
  await expect.poll(() => own().length).toBe(3);
  for (const { transaction } of [unpublished, elsewhere]) {
    expect(published.filter((text) => text.includes(transaction.slice(2)))).toEqual([]);
  }
  everything.disconnect();
  // The audit trail names pools of the updates that were published alone.
  const redis = new Redis(world.redisUrl);
  const entries = (await redis.xrange(`${world.prefix}:audit`, '-', '+')).map(([, [, text = '']]) => JSON.parse(text));
  redis.disconnect();
  const poolsOf = (transaction: Hex) => entries.find(({ txHash }) => txHash === keccak256(transaction))?.pools;
  expect(poolsOf(later.transaction)).toEqual(pools().map(({ address }) => address));
  expect([unpublished, elsewhere].map(({ transaction }) => poolsOf(transaction))).toEqual([[], []]);
  // The one that came early is good for the block after this one.
  await world.market.builder.buildBlock();
  await untilKinds(['committed', 'committed', 'live', 'committed']);
});

test('an update that is good for several blocks is traced at each head, and in no block after its last one', async () => {
  const { proxy, admin, market, prefix, config } = world;
  const [pool, other] = pools() as [LivePool, LivePool];
  const { builder } = market;
  const block = builder.block();
  // Its price is for the second of its blocks: as on BSC, it stays the maker's until then.
  const next = blockAfter(block);
  const update = await pool.maker.sign(next, priceAround(200n));
  const before = proxy.requests.length;
  const { data } = parseTransaction(update.transaction);
  const tracedAt = () =>
    proxy.requests.slice(before).flatMap(({ method, params }) => {
      const [call, at] = params as [{ data: string }, { blockHash: string }];
      return method === 'debug_traceCall' && call.data === data ? [at.blockHash] : [];
    });
  const publish = ({ transaction, block: { number } }: QuoteUpdate, fromBlock: bigint) =>
    admin.publish(
      ownUpdatesChannel(prefix, config.chainId),
      encodeOwnUpdate({
        sender: 'maker',
        uuid: newUuid(),
        seq: 1n,
        tx: transaction,
        fromBlock,
        untilBlock: number,
        sentAtMs: Date.now(),
      }),
    );
  await publish(update, block.number);
  const heads: string[] = [];
  for (const kind of ['committed', 'live', 'committed']) {
    heads.push((await market.chain.client.getBlock()).hash);
    // Of the same sender, and so traced at this head after whatever is traced of the first one.
    await publish(await sign(other, 205n), builder.block().number);
    await untilKinds([kind, 'live', ...COMMITTED.slice(2)]);
    await builder.buildBlock();
  }
  expect(tracedAt()).toEqual(heads.slice(0, 2));
});
