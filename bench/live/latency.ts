import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { Samples } from '../../test/harness/samples.ts';
import { millisecondsNow } from '../../test/many-pools/now.ts';
import { awaitOtherBid, readStream, type StreamReader } from './readings.ts';
import { update } from './updates.ts';

/** Milliseconds from a change until it showed. */
export interface Latency {
  readonly quote: Samples;
  readonly stream: Samples;
}

/** What is changed and watched. */
export interface Watched {
  readonly pools: readonly LivePool[];
  readonly reader: StreamReader;
  /** The quote of the first of the pools. */
  readonly url: string;
}

const random = seededRandom(27);

export const noLatency = (): Latency => ({ quote: new Samples(), stream: new Samples() });

/** Opens a stream of all pools, of which the first ones are changed. */
export function watchPools({ pools, chain }: LiveMarket, url: string, changed: number): Watched {
  const addresses = pools.map(({ address }) => address);
  const reader = readStream(url, chain.chainId, addresses);
  const first = `${url}/public/v1/evm/${chain.chainId}/${addresses[0]}/bid_ask`;
  return { pools: pools.slice(0, changed), reader, url: first };
}

/** From a frame, and from a block, to the quote of a pool and to all changed pools of a stream. */
export async function measureLatency(market: LiveMarket, url: string, rounds: number, changed: number) {
  const { pools, builder } = market;
  const watched = watchPools(market, url, changed);
  const [frames, blocks] = [noLatency(), noLatency()];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 10 === 0) {
      // The last update landed: the block shows its price, until the next one has none.
      await measureOnce(blocks, watched, async () => void (await builder.buildBlock()));
      await update(market, pools);
      await sleep(1_000);
    }
    await measureOnce(frames, watched, async () => {
      await update(market, watched.pools);
      builder.sendFrames();
    });
    await sleep(random.integer(200, 500));
  }
  watched.reader.close();
  return { frames, blocks };
}

/** Adds how long it takes from a change until a quote and a stream show it. */
export async function measureOnce(
  { quote, stream }: Latency,
  { pools, reader, url }: Watched,
  change: () => Promise<void>,
): Promise<void> {
  const before = new Map(reader.bids);
  const shown = (pools[0] && before.get(pools[0].address)) ?? '';
  const isNew = () => pools.every(({ address }) => reader.bids.get(address) !== before.get(address));
  const streamed = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error('the stream did not show the change within 10 s')), 10_000).unref();
    reader.onMessage(() => {
      if (isNew()) resolve(millisecondsNow());
    });
  });
  await change();
  const startedAt = millisecondsNow();
  quote.add((await awaitOtherBid(url, shown)) - startedAt);
  stream.add((await streamed) - startedAt);
}
