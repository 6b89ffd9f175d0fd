import { expect, onTestFinished, test } from 'vitest';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { newUuid } from '../pamm/sample-updates.ts';
import type { StreamApi } from '../stream/stream-api.ts';
import { kindsOf, type Sent, startOwnWorld } from './own-world.ts';

const WAIT = { interval: 20 };
/** On a busy machine another process may have become the reader, which never saw what was sent before. */
const SEND_AGAIN = { interval: 1_000 };

/* How published updates get from the processes that take them to the one that makes quotes of them. */

test('one process reads the updates for all; another one takes over', async () => {
  const own = await startOwnWorld({ flatPools: 1, packedPools: 1 });
  onTestFinished(() => own.stop());
  const key = await own.issue(true);
  const { builder } = own.market;
  const others = [await own.openQuotes(), await own.openQuotes()];
  onTestFinished(async () => void (await Promise.all(others.map((api) => api.stop()))));
  const updateAll = async (hundredths: bigint) => {
    for (const { maker } of own.market.pools) {
      await own.sendUpdate(key, await maker.sign(builder.block(), priceAround(hundredths)));
    }
  };
  const untilLive = async (api: StreamApi, hundredths: bigint) => {
    const kinds = async () => {
      await updateAll(hundredths);
      return kindsOf(await own.batch(api));
    };
    await expect.poll(kinds, SEND_AGAIN).toEqual(['live', 'live']);
  };
  for (const api of [...others, own.quotes]) await untilLive(api, 200n);
  await expect.poll(own.readers).toBe(1);
  await Promise.all([own.stopQuotes(), expect.poll(own.readers, { interval: 20 }).toBe(0)]);
  await expect.poll(own.readers).toBe(1);
  await builder.buildBlock();
  for (const api of others) await untilLive(api, 201n);
});

test('what the last reader made of updates holds on in the next one, until these are cancelled there', async () => {
  const own = await startOwnWorld({ flatPools: 2, packedPools: 0 });
  onTestFinished(() => own.stop());
  const key = await own.issue(true);
  const { builder, pools } = own.market;
  const [one, two] = pools as [LivePool, LivePool];
  const next = await own.openQuotes();
  onTestFinished(() => next.stop());
  const updateOf = async ({ maker }: LivePool, hundredths: bigint) =>
    own.sendUpdate(key, await maker.sign(builder.block(), priceAround(hundredths)));
  const kinds = async () => kindsOf(await own.batch(next));
  const bid = async () => (await own.batch(next)).results.map((result) => 'quote' in result && result.quote.bidAdj)[0];
  const untilReaders = (count: number) => expect.poll(own.readers, WAIT).toBe(count);
  const until = (wanted: readonly string[]) => expect.poll(kinds, WAIT).toEqual(wanted);
  let [first, second] = [await updateOf(one, 200n), await updateOf(two, 200n)];
  const again = async (sent: Sent) => {
    const newer = { ...sent, seq: sent.seq + 1 };
    await own.send(newer);
    return newer;
  };
  const kindsOfRepeated = async () => {
    const found = await kinds();
    if (found.includes('committed')) [first, second] = [await again(first), await again(second)];
    return found;
  };
  await expect.poll(kindsOfRepeated, SEND_AGAIN).toEqual(['live', 'live']);
  await Promise.all([own.stopQuotes(), untilReaders(0)]);
  await untilReaders(1);
  expect(await kinds()).toEqual(['live', 'live']);
  const before = await bid();
  const third = await updateOf(one, 203n);
  await expect.poll(bid, WAIT).not.toBe(before);
  // This process never saw the other update.
  expect(await kinds()).toEqual(['live', 'live']);
  await own.send({ ...second, tx: '0x', seq: second.seq + 1 });
  await until(['live', 'committed']);
  for (const sent of [first, third]) await own.send({ ...sent, tx: '0x', seq: sent.seq + 1 });
  await until(['committed', 'committed']);
});

test('where Redis refuses what is published, updates are taken as before', async () => {
  const world = await startOwnWorld({ flatPools: 1, packedPools: 0 });
  onTestFinished(() => world.stop());
  const { admin, pammUser, prefix, market } = world;
  const key = await world.issue(true);
  const [pool] = market.pools as [LivePool];
  const { transaction: tx, block } = await pool.maker.sign(market.builder.block(), priceAround(200n));
  const send = () => world.send({ key, uuid: newUuid(), seq: 1, tx, blockNumber: Number(block.number) });
  // A user whose channels were taken away is cut off, and connects again.
  await admin.acl('SETUSER', pammUser, 'resetchannels', `&${prefix}:answers:*`);
  await expect.poll(async () => (await send()).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const refused = ((await admin.acl('LOG')) as unknown[][]).map((entry) => entry.join(' '));
  expect(refused).toContainEqual(expect.stringContaining(ownUpdatesChannel(prefix, world.config.chainId)));
});
