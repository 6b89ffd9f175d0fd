import { expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import { startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { FeedPrice } from '../../devnet/live/registry.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { openWorld } from '../../test/harness/open-world.ts';
import { partSource } from '../../test/live/part-world.ts';
import { indexedQuotes } from '../indexed-quotes.fixture.ts';
import { createLiveQuotes } from './live-quotes.ts';
import { PersistenceRecorder } from './record-persistence.ts';
import { writeDays } from './write-figures.ts';

const PARTS = 3;
const WINDOWS = 3;
const MINUTE = 60_000;

const market = openWorld(async (ends) => {
  const started = await startLiveMarket({ flatPools: 2, packedPools: 0, guards: ['none'] });
  ends.defer(started.close);
  const node = await startPartNode(started.chain, { partsPerBlock: PARTS });
  ends.defer(node.stop);
  return { ...started, node };
});
const { own, index, pools, readPrices } = indexedQuotes(market, {
  rpcUrl: () => market.node.url,
  pairs: async () => [{ token0: market.token0, token1: market.token1, decimals0: 18, decimals1: 18 }] as const,
  change: () => ({ live: LiveConfig.parse(partSource(market.node, false)), blockTimeMs: 2_000 }),
});

/** Bid and ask so many millionths from two. */
const around = (e6: bigint): FeedPrice => ({
  bidX64: (2n * Q64 * (1_000_000n - e6)) / 1_000_000n,
  askX64: (2n * Q64 * (1_000_000n + e6)) / 1_000_000n,
});
const HONEST = around(100n);
const BETTER = around(40n);

/** Shows the parts up to the next block's first: the last one has a better price of the second pool. */
async function showBlock(): Promise<void> {
  const { node, pools: live } = market;
  const [honest, briefly] = live;
  if (!honest || !briefly) throw new Error('two pools are made');
  for (let shown = 0; shown < PARTS; shown += 1) {
    const { number, timeSecs, index: before } = node.part();
    const isNext = before === PARTS - 1;
    const block = { number: isNext ? number + 1n : number, timeSecs: isNext ? timeSecs + 2n : timeSecs, slot: 0n };
    const isLast = before === PARTS - 2;
    node.submit((await honest.maker.sign(block, HONEST)).transaction);
    node.submit((await briefly.maker.sign(block, isLast ? BETTER : HONEST)).transaction);
    await node.nextPart();
  }
}

interface Day {
  readonly pool: string;
  readonly side: string;
  readonly horizon: string;
  readonly median_bps: number;
  readonly better_share: number;
  readonly gone_share: number;
}

test('a maker that is better in the last part of each block alone stands out beside an honest one', async () => {
  const [honest, briefly] = market.pools;
  if (!honest || !briefly) throw new Error('two pools are made');
  await showBlock();
  for (const pool of market.pools) await index(pool, own.pairs[0]);
  await readPrices();
  const logger = { warn: () => undefined, child: () => logger } as never;
  const clock = { ms: 1_000 * MINUTE };
  // Each call takes 50 ms, and nothing else takes time, however busy the machine is.
  let calls = 0;
  const countCall = () => {
    calls += 1;
  };
  const read = {
    chain: own.config,
    rpc: openChainRpc(own.config, 5_000, countCall),
    reserve: () => true,
    now: () => 50 * calls,
    wallClock: () => clock.ms,
    logger,
  };
  const recorder = new PersistenceRecorder({
    ...read,
    database: own.database,
    pools,
    kept: HistoryConfig.parse({}),
    fiatMaxAgeSecs: 3_600,
    budget: { hasSpare: () => true, reserveSpare: () => true },
    readLive: createLiveQuotes({ ...read, countCall, readMs: 60_000 }),
    draw: () => 0,
  });
  for (let window = 0; window < WINDOWS; window += 1) {
    clock.ms += MINUTE;
    await recorder.run();
    for (let blocks = 0; blocks < 5; blocks += 1) await showBlock();
    // The blocks of this window are all in other minutes than those of the next.
    for (let blocks = 0; blocks < 30; blocks += 1) await showBlock();
    clock.ms += MINUTE / 2;
    for (let steps = 0; steps < 6; steps += 1) await recorder.run();
  }
  const { timestamp } = await market.chain.client.getBlock();
  await writeDays(own.database, own.config.chainId, HistoryConfig.parse({}), Number(timestamp));
  const { rows } = await own.database.query<Day>('SELECT * FROM history.persistence_day');
  const figureOf = (pool: LivePool, side: string, horizon: string) =>
    rows.find((row) => row.pool === pool.address && row.side === side && row.horizon === horizon);
  for (const side of ['bids', 'asks']) {
    for (const horizon of ['200_ms', '1_s']) {
      expect(figureOf(honest, side, horizon)).toMatchObject({ median_bps: 0, gone_share: 0, better_share: 0 });
      // What it quotes in the next block holds there, but is not what it quoted in the last part before.
      const figure = figureOf(briefly, side, horizon);
      expect(figure).toMatchObject({ median_bps: 0, better_share: 0 });
      expect(figure?.gone_share).toBeGreaterThan(0.05);
    }
    // By blocks alone it looks as honest as the other one.
    expect(figureOf(briefly, side, '1_block')).toMatchObject({ median_bps: 0 });
  }
}, 120_000);
