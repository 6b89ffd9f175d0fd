import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { type PartNode, startPartNode } from '../../devnet/parts/part-node.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { partSource } from '../../test/live/part-world.ts';
import { type Latency, measureOnce, noLatency, watchPools } from './latency.ts';
import { serveLiveMarket } from './serve-live-market.ts';
import { otherPrice } from './updates.ts';

const PARTS_PER_BLOCK = 10;
const BLOCK_MS = 2_000;
/** Parts that a new process compiles at: its frames are timed after many others, too. */
const WARM_UP = 10;
const random = seededRandom(36);

/** From a part of a block to the quote of a pool and to all changed pools of a stream. No other block follows. */
export async function measureParts(market: LiveMarket, rounds: number, changed: number): Promise<Latency> {
  const node = await startPartNode(market.chain, { form: 'payload', partsPerBlock: PARTS_PER_BLOCK, record: false });
  const server = await serveLiveMarket(market, node.url, { live: partSource(node), blockTimeMs: BLOCK_MS });
  const watched = watchPools(market, server.url, changed);
  const latency = noLatency();
  for (let round = 0; round < WARM_UP + rounds; round += 1) {
    if (round === 0 || node.part().index + 1 >= PARTS_PER_BLOCK) {
      // The last prices do not hold in the next block.
      if (round > 0) await node.nextPart();
      await price(node, market.pools);
      await sleep(1_000);
    }
    await measureOnce(round < WARM_UP ? noLatency() : latency, watched, () => price(node, watched.pools));
    await sleep(random.integer(100, 400));
  }
  watched.reader.close();
  await server.stop();
  await node.stop();
  return latency;
}

/** Gives pools new prices with the next part of the block. */
async function price(node: PartNode, pools: readonly LivePool[]): Promise<void> {
  const { number, timeSecs } = node.part();
  for (const pool of pools) {
    const { transaction } = await pool.maker.sign({ number, timeSecs, slot: 0n }, otherPrice(pool));
    node.submit(transaction);
  }
  await node.nextPart();
}
