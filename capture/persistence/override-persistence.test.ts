import { expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import { quoteAt } from '../../devnet/live/live-calls.fixture.ts';
import { priceAround, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { accountWords } from '../../devnet/live/pending-updates.ts';
import { chainBounds } from '../../quoting/chain-bounds.ts';
import { openLiveBlocks } from '../../quoting/open-live-blocks.ts';
import { openWorld, startedWorld } from '../../test/harness/open-world.ts';
import { builderSource } from '../../test/live/live-world.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { indexedQuotes } from '../indexed-quotes.fixture.ts';
import { WITHDRAWN_E6 } from './compare-quotes.ts';
import { createLiveQuotes, type ReadLive } from './live-quotes.ts';
import { PersistenceRecorder } from './record-persistence.ts';

const BLOCK_MS = 12_000;
const MINUTE = 60_000;
/** A thousand dollars' worth of the first token. */
const INPUT = 10n * 10n ** 18n;
const logger = { warn: () => undefined, info: () => undefined, child: () => logger } as never;
const now = () => performance.now();

const market = startedWorld(() => startLiveMarket({ flatPools: 1, packedPools: 0, guards: ['none'] }));
const { home, own, index, pools } = indexedQuotes(market, {
  rpcUrl: () => market.chain.rpcUrl,
  pairs: async () => [{ token0: market.token0, token1: market.token1, decimals0: 18, decimals1: 18 }] as const,
  change: () => ({ live: LiveConfig.parse(builderSource(market)), blockTimeMs: BLOCK_MS }),
});
const live = openWorld(async (ends) => {
  const wallClock = () => Date.now();
  const rpc = openChainRpc(own.config, 5_000);
  const context = { config: own.config, bounds: chainBounds(own.config, stillQuotes), rpc, logger, now, wallClock };
  const opened = openLiveBlocks(
    { ...context, countCall: () => undefined },
    { protectedAccounts: async () => new Set(), env: {} },
  );
  if (!opened) throw new Error('there is no source');
  ends.defer(() => opened.close());
  return { ...opened, rpc };
});

test('a quote that lives with a builder is compared with what it is there later', async () => {
  const [pool] = market.pools;
  if (!pool) throw new Error('no pool');
  await index(pool, own.pairs[0]);
  await home.pool.query('UPDATE operator.fiat_price SET usd = 100');
  await home.pool.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, basis, block_number, block_timestamp, captured_at)
     VALUES ($1, $2, 'healthy', 'live', 1, 1, now())`,
    [own.config.chainId, pool.address],
  );
  /** Changes the price, and waits until the reads see it. @returns what the quoter pays then */
  let digest: string | undefined;
  const show = async (update: () => Promise<QuoteUpdate>): Promise<bigint> => {
    const updated = await update();
    await eventually(async () => {
      const head = await live.blocks.now();
      const isNew = head !== null && head.block.pending.overrides.size > 0 && head.block.pending.digest !== digest;
      if (isNew) digest = head.block.pending.digest;
      return isNew;
    }, 60_000);
    const block = market.builder.block();
    const overrides = { words: accountWords([updated]), block };
    const paid = await quoteAt(market.chain, pool, { zeroForOne: true, amountSpecified: INPUT }, overrides);
    if (typeof paid === 'string') throw new Error(paid);
    return -paid.amount1Delta;
  };
  const clock = { ms: 1_000 * MINUTE };
  // Each call of a read takes 50 ms, and nothing else takes time, however busy the machine is.
  let calls = 0;
  const rpc = openChainRpc(own.config, 5_000, () => {
    calls += 1;
  });
  const read = {
    chain: own.config,
    rpc,
    reserve: () => true,
    now: () => 50 * calls,
    wallClock: () => clock.ms,
    logger,
  };
  const readLive = createLiveQuotes({ ...read, live: live.blocks });
  const given: bigint[] = [];
  const prices = [200n, 198n, 203n];
  let reading: Promise<unknown> = Promise.resolve();
  const readAfterUpdate: ReadLive = (...args) => {
    const read = reading.then(async () => {
      given.push(await show(() => market.update(pool, priceAround(prices[given.length] ?? 0n))));
      return (await readLive?.(...args)) ?? null;
    });
    reading = read;
    return read;
  };
  const recorder = new PersistenceRecorder({
    ...read,
    database: own.database,
    pools,
    kept: HistoryConfig.parse({}),
    fiatMaxAgeSecs: 3_600,
    budget: { hasSpare: () => true, reserveSpare: () => true },
    readLive: readAfterUpdate,
    // No further window opens while this one is read.
    draw: () => (given.length === 0 ? 0 : 0.999),
  });
  await recorder.run();
  expect(given).toHaveLength(3);
  await market.chain.client.mine({ blocks: 5 });
  clock.ms += MINUTE;
  for (let steps = 0; steps < 6; steps += 1) await recorder.run();
  const { rows } = await own.database.query<{ bids: (number | null)[]; gone: number }>(
    'SELECT bid_changes_e6 AS bids, bid_gone_e6 AS gone FROM history.persistence_minute',
  );
  const [shown = 1n, soon = 0n, late = 0n] = given;
  const lost = (then: bigint) => Math.ceil(Number(((shown - then) * 10n ** 12n) / shown) / 1e6);
  // Nothing landed.
  const any = expect.any(Number);
  expect(rows[0]?.bids).toEqual([...Array(9).fill(null), lost(soon), any, any, lost(late), any, any]);
  expect(lost(soon)).toBeGreaterThan(9_000);
  expect(lost(late)).toBeLessThan(-10_000);
  expect(rows[0]?.gone).toBe(WITHDRAWN_E6);
}, 120_000);
