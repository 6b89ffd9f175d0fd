import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { type LiveMarket, priceAround, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { runMain } from '../../runtime/run-main.ts';
import { staleShare } from '../../test/stream/stale-share.ts';
import { peakMemory, serverCpuMs } from '../hostile/cpu-time.ts';
import { Samples } from '../route/measure.ts';
import { type CountingNode, startCountingNode } from '../stream/counting-node.ts';
import { millisecondsNow } from '../stream/now.ts';
import { hostileFrames } from './hostile-frames.ts';
import { awaitOtherBid, readStream } from './readings.ts';
import { serveLiveMarket } from './serve-live-market.ts';

/** Per layout. */
const POOLS = 100;
const IDLE_MS = 15_000;
const QUOTES_MS = 15_000;
const CHANGED = 10;
/** At default settings: pools that are followed, those of them that change, four times a second, and for how long. */
const FOLLOWED = 100;
const LIVE = 20;
const FOLLOWED_MS = 60_000;
const CHANGE_MS = 250;
const CHANGES_PER_BLOCK = 48;
const random = seededRandom(27);
const write = (line: string) => process.stdout.write(`${line}\n`);

runMain(async () => {
  const { rounds } = new Command('bench:live')
    .description(
      `Live quotes of 200 pools, half of them packed: how long after a frame a quote and a stream show it, beside the same
after a block; calls to nodes per read of the 100 flat pools, beside those of a block; CPU time without requests.`,
    )
    .option('--rounds <number>', 'frames and blocks that are timed', '60')
    .parse()
    .opts<{ rounds: string }>();
  try {
    await bench(Number(rounds));
  } finally {
    await stopRunningServices();
  }
});

async function bench(rounds: number): Promise<void> {
  const market = await startLiveMarket({ flatPools: POOLS, packedPools: POOLS, guards: ['none'] });
  const node = await startCountingNode(market.chain.rpcUrl);
  const server = await serveLiveMarket(market, node.url);
  const base = `${server.urls[0]}/public/v1/evm/${market.chain.chainId}`;
  try {
    const idle = await measureIdle(market, server.pid);
    const { frames, blocks } = await measureLatency(market, base, rounds);
    const calls = await measureCalls(market, node, base);
    const calm = await measureQuotes(market, base, () => undefined);
    const attack = hostileFrames(market);
    const attacked = await measureQuotes(market, base, () => market.builder.sendRaw(attack.next().value));
    const keyed = await measureFreshness(market, node, 'good');
    const anonymous = await measureFreshness(market, node, undefined);
    report({ idle, frames, blocks, calls, calm, attacked, memoryMb: peakMemory(server.pid) / 1e6, keyed, anonymous });
  } finally {
    await server.stop();
    await node.stop();
    await market.close();
  }
}

const lastPrices = new Map<LivePool, bigint>();

/** Another price than the pool's last one. */
function otherPrice(pool: LivePool) {
  const last = lastPrices.get(pool) ?? 190n;
  const next = last >= 210n ? 190n : last + 1n;
  lastPrices.set(pool, next);
  return priceAround(next);
}

/** Gives pools new prices for the block that is being built, all in one frame. */
async function update({ builder }: LiveMarket, pools: readonly LivePool[]): Promise<void> {
  const updates = await Promise.all(pools.map((pool) => pool.maker.sign(builder.block(), otherPrice(pool))));
  for (const each of updates) builder.submit(each);
}

/** CPU of a process without requests while ten frames a second have new words, as a part of one core. */
async function measureIdle(market: LiveMarket, pid: number): Promise<number> {
  await update(market, market.pools);
  await sleep(2_000);
  const before = serverCpuMs(pid);
  const until = performance.now() + IDLE_MS;
  while (performance.now() < until) {
    await update(market, market.pools.slice(0, CHANGED));
    await sleep(100);
  }
  return (serverCpuMs(pid) - before) / IDLE_MS;
}

interface Latency {
  readonly quote: Samples;
  readonly stream: Samples;
}

/** From a frame, and from a block, to the quote of a pool and to all changed pools of a stream. */
async function measureLatency(market: LiveMarket, base: string, rounds: number) {
  const { pools, builder } = market;
  const reader = readStream(
    base,
    pools.map(({ address }) => address),
  );
  const frames: Latency = { quote: new Samples(), stream: new Samples() };
  const blocks: Latency = { quote: new Samples(), stream: new Samples() };
  const changed = pools.slice(0, CHANGED);
  const [{ address }] = changed as [LivePool];
  const url = `${base}/${address}/bid_ask`;
  for (let round = 0; round < rounds; round += 1) {
    if (round % 10 === 0) {
      // The last update landed: the block shows its price, until the next one has none.
      await measureOnce(blocks, reader, changed, url, async () => void (await builder.buildBlock()));
      await update(market, pools);
      await sleep(1_000);
    }
    await measureOnce(frames, reader, changed, url, async () => {
      await update(market, changed);
      builder.sendFrames();
    });
    await sleep(random.integer(200, 500));
  }
  reader.close();
  return { frames, blocks };
}

async function measureOnce(
  { quote, stream }: Latency,
  reader: ReturnType<typeof readStream>,
  changed: readonly LivePool[],
  url: string,
  change: () => Promise<void>,
): Promise<void> {
  const before = new Map(reader.bids);
  const shown = before.get(changed[0]?.address as `0x${string}`) ?? '';
  const isNew = () => changed.every(({ address }) => reader.bids.get(address) !== before.get(address));
  const streamed = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error('the stream did not show the change within 10 s')), 10_000).unref();
    reader.onMessage(() => {
      if (isNew()) resolve(millisecondsNow());
    });
  });
  await change();
  const startedAt = millisecondsNow();
  quote.add((await awaitOtherBid(url, shown)).at - startedAt);
  stream.add((await streamed) - startedAt);
}

/** Calls per read of the flat pools: of the frames of one block, and of a block. */
async function measureCalls(market: LiveMarket, node: CountingNode, base: string) {
  const { pools, builder } = market;
  const plain = pools.filter(({ layout }) => layout === 'flat');
  const reader = readStream(
    base,
    plain.map(({ address }) => address),
  );
  await update(market, plain);
  await sleep(2_000);
  const [calls, messages] = [node.reads(), reader.messages()];
  let frames = 0;
  for (; frames < 80; frames += 1) {
    await update(market, plain.slice(0, CHANGED));
    await sleep(100);
  }
  await sleep(500);
  const perFrame = (node.reads() - calls) / (reader.messages() - messages);
  const before = node.reads();
  const blocks = 10;
  for (let block = 0; block < blocks; block += 1) {
    await builder.buildBlock();
    await sleep(600);
  }
  reader.close();
  return {
    pools: plain.length,
    frames,
    used: reader.messages() - messages,
    perFrame,
    perBlock: (node.reads() - before) / blocks,
  };
}

/** A reader of many pools at default settings, while some of them change four times a second. */
async function measureFreshness(market: LiveMarket, node: CountingNode, key: string | undefined) {
  const server = await serveLiveMarket(market, node.url, {});
  const base = `${server.urls[0]}/public/v1/evm/${market.chain.chainId}`;
  // Half of the pools are flat, the others packed.
  const pools = market.pools.filter((_, index) => index % (market.pools.length / FOLLOWED) === 0);
  const changing = pools.filter((_, index) => index % (FOLLOWED / LIVE) === 0);
  let isOver = false;
  // One after the other: an update is for the block that is being built.
  const play = async () => {
    for (let changes = 1; !isOver; changes += 1) {
      const next = sleep(CHANGE_MS);
      await update(market, changing);
      if (changes % CHANGES_PER_BLOCK === 0) await market.builder.buildBlock();
      await next;
    }
  };
  const played = play();
  try {
    const before = node.calls();
    const { share, readings } = await staleShare(
      base,
      pools.map(({ address }) => address),
      { ms: FOLLOWED_MS, key },
    );
    const secs = FOLLOWED_MS / 1_000;
    return { share, callsPerSec: (node.calls() - before) / secs, readingsPerSec: readings / secs };
  } finally {
    isOver = true;
    await played;
    await server.stop();
  }
}

/** Quotes of any pools while prices change and a source also sends something else, 20 times a second. */
async function measureQuotes(market: LiveMarket, base: string, send: () => void): Promise<Samples> {
  const times = new Samples();
  const until = performance.now() + QUOTES_MS;
  const attack = setInterval(send, 50);
  const updates = setInterval(() => void update(market, market.pools.slice(0, CHANGED)), 300);
  while (performance.now() < until) {
    const startedAt = performance.now();
    await (await fetch(`${base}/${random.pick(market.pools).address}/bid_ask`)).arrayBuffer();
    times.add(performance.now() - startedAt);
    await sleep(10);
  }
  clearInterval(attack);
  clearInterval(updates);
  return times;
}

interface Result {
  readonly idle: number;
  readonly frames: Latency;
  readonly blocks: Latency;
  readonly calls: Awaited<ReturnType<typeof measureCalls>>;
  readonly calm: Samples;
  readonly attacked: Samples;
  readonly memoryMb: number;
  readonly keyed: Freshness;
  readonly anonymous: Freshness;
}

type Freshness = Awaited<ReturnType<typeof measureFreshness>>;

function report({ idle, frames, blocks, calls, calm, attacked, memoryMb, keyed, anonymous }: Result): void {
  const line = (name: string, value: string, target: string, isMet: boolean) =>
    write(`${name.padEnd(52)}${value.padStart(24)}   target ${target.padEnd(8)} ${isMet ? 'pass' : 'MISS'}`);
  const ms = (samples: Samples, quantile: number) => samples.quantile(quantile) ?? Number.NaN;
  const shown = (live: Samples, block: Samples) =>
    `${ms(live, 0.5).toFixed(0)}, ${ms(live, 0.99).toFixed(0)}, ${(ms(live, 0.99) / ms(block, 0.99)).toFixed(2)} x`;
  write(`p50 ms, p99 ms, and p99 as a multiple of that after a block`);
  line('frame to quote', shown(frames.quote, blocks.quote), '150 ms', ms(frames.quote, 0.99) <= 150);
  line('frame to stream', shown(frames.stream, blocks.stream), '250 ms', ms(frames.stream, 0.99) <= 250);
  const { pools, used, perFrame, perBlock } = calls;
  line(
    `calls per used frame, ${pools} pools, ${used} of ${calls.frames} frames used`,
    perFrame.toFixed(2),
    '2',
    perFrame <= 2.01,
  );
  write(`calls per block of the same pools${perBlock.toFixed(2).padStart(43)}`);
  const slower = ms(attacked, 0.99) / ms(calm, 0.99);
  line(
    'quotes under hostile frames, p99 of calm and then',
    `${ms(calm, 0.99).toFixed(0)}, ${ms(attacked, 0.99).toFixed(0)}, ${slower.toFixed(2)} x`,
    '3 x',
    slower <= 3,
  );
  line('memory, peak MB', memoryMb.toFixed(0), '600', memoryMb <= 600);
  line('CPU without requests, % of a core', (100 * idle).toFixed(2), '2', idle <= 0.02);
  write(
    `at default settings, ${FOLLOWED} pools, ${LIVE} of them live with four changes a second: stale, calls/s, reads/s`,
  );
  for (const [name, { share, callsPerSec, readingsPerSec }] of Object.entries({ keyed, anonymous })) {
    const figures = `${((share ?? 1) * 100).toFixed(1)}%, ${callsPerSec.toFixed(1)}, ${readingsPerSec.toFixed(1)}`;
    line(`${name} reader`, figures, '0%', share === 0);
  }
}
