import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveMarket, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import type { Samples } from '../../test/harness/samples.ts';
import { type CountingNode, startCountingNode } from '../../test/many-pools/counting-node.ts';
import { staleShare } from '../../test/stream/stale-share.ts';
import type { MeasuredProcess } from '../measured-process.ts';
import { print } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { hostileFrames } from './hostile-frames.ts';
import { type Latency, measureLatency } from './latency.ts';
import { measureParts } from './parts.ts';
import { readStream } from './readings.ts';
import { serveLiveMarket, timeQuotes } from './serve-live-market.ts';
import { update, whileChanging } from './updates.ts';

/** Per layout. */
const POOLS = 100;
const IDLE_MS = 15_000;
const QUOTES_MS = 15_000;
const CHANGED = 10;
/** At default settings: pools that are followed, those of them that change, four times a second, and for how long. */
const FOLLOWED = 100;
const LIVE = 20;
const FOLLOWED_MS = 60_000;
const CHANGES = { everyMs: 250, perBlock: 48 };

runBench({
  name: 'live',
  description: `Live quotes of 200 pools, half of them packed: how long after a frame, and after a part of a block, a quote and a stream
show it, beside the same after a block; calls to nodes per read of the 100 flat pools, beside those of a block; CPU time without requests.`,
  options: { rounds: ['frames and parts that are timed', 60] },
  run: async ({ rounds }, verdicts) => {
    const market = await startLiveMarket({ flatPools: POOLS, packedPools: POOLS, guards: ['none'] });
    const node = await startCountingNode(market.chain.rpcUrl);
    const server = await serveLiveMarket(market, node.url);
    const idle = await measureIdle(market, server);
    const latencies = await measureLatency(market, server.url, rounds, CHANGED);
    const calls = await measureCalls(market, node, server.url);
    const calm = await measureQuotes(market, server, () => undefined);
    const attack = hostileFrames(market);
    const attacked = await measureQuotes(market, server, () => market.builder.sendRaw(attack.next().value));
    const keyed = await measureFreshness(market, node, 'good');
    const anonymous = await measureFreshness(market, node, undefined);
    const memoryMb = server.peakMemory() / 1e6;
    await server.stop();
    const parts = await measureParts(market, rounds, CHANGED);
    report({ parts, idle, ...latencies, calls, calm, attacked, memoryMb, keyed, anonymous }, verdicts);
  },
});

/** CPU of a process without requests while ten frames a second have new overrides, as a part of one core. */
async function measureIdle(market: LiveMarket, { cpuMs }: MeasuredProcess): Promise<number> {
  await update(market, market.pools);
  await sleep(2_000);
  const before = cpuMs();
  const until = performance.now() + IDLE_MS;
  while (performance.now() < until) {
    await update(market, market.pools.slice(0, CHANGED));
    await sleep(100);
  }
  return (cpuMs() - before) / IDLE_MS;
}

/** Calls per read of the flat pools: of the frames of one block, and of a block. */
async function measureCalls(market: LiveMarket, node: CountingNode, url: string) {
  const { builder, chain } = market;
  const plain = market.pools.filter(({ layout }) => layout === 'flat');
  const addresses = plain.map(({ address }) => address);
  const reader = readStream(url, chain.chainId, addresses);
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
  const used = reader.messages() - messages;
  return { pools: plain.length, frames, used, perFrame, perBlock: (node.reads() - before) / blocks };
}

/** A reader of many pools at default settings, while some of them change four times a second. */
async function measureFreshness(market: LiveMarket, node: CountingNode, key: string | undefined) {
  const server = await serveLiveMarket(market, node.url, { warmBudget: {} });
  // Half of the pools are flat, the others packed.
  const pools = market.pools.filter((_, index) => index % (market.pools.length / FOLLOWED) === 0);
  const changing = pools.filter((_, index) => index % (FOLLOWED / LIVE) === 0);
  const addresses = pools.map(({ address }) => address);
  const base = `${server.url}/public/v1/evm/${market.chain.chainId}`;
  const before = node.calls();
  const { share, readings } = await whileChanging(market, changing, CHANGES, () =>
    staleShare(base, addresses, { ms: FOLLOWED_MS, key }),
  );
  await server.stop();
  const secs = FOLLOWED_MS / 1_000;
  return { share, callsPerSec: (node.calls() - before) / secs, readingsPerSec: readings / secs };
}

/** Quotes of any pools while prices change and a source also sends something else, 20 times a second. */
async function measureQuotes(market: LiveMarket, server: MeasuredProcess, send: () => void): Promise<Samples> {
  const until = performance.now() + QUOTES_MS;
  const attack = setInterval(send, 50);
  const updates = setInterval(() => void update(market, market.pools.slice(0, CHANGED)), 300);
  const times = await timeQuotes(market, server, () => performance.now() > until);
  clearInterval(attack);
  clearInterval(updates);
  return times;
}

interface Result {
  readonly parts: Latency;
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

function report(result: Result, verdicts: Verdicts<'live'>): void {
  const { parts, idle, frames, blocks, calls, calm, attacked, memoryMb, keyed, anonymous } = result;
  const line = (name: string, shown: string, figure: FigureOf<'live'>, value: number) =>
    print(
      `${name.padEnd(52)}${shown.padStart(24)}   target ${verdicts.text(figure).padEnd(8)} ${verdicts.verdict(figure, value)}`,
    );
  const shown = (live: Samples, block: Samples) =>
    `${live.median.toFixed(0)}, ${live.p99.toFixed(0)}, ${(live.p99 / block.p99).toFixed(2)} x`;
  print('p50 ms, p99 ms, and p99 as a multiple of that after a block');
  line('frame to quote', shown(frames.quote, blocks.quote), 'frame to quote, p99 ms', frames.quote.p99);
  line('frame to stream', shown(frames.stream, blocks.stream), 'frame to stream, p99 ms', frames.stream.p99);
  line('part to quote', shown(parts.quote, blocks.quote), 'part to quote, p99 ms', parts.quote.p99);
  line('part to stream', shown(parts.stream, blocks.stream), 'part to stream, p99 ms', parts.stream.p99);
  const perFrame = calls.perFrame.toFixed(2);
  const ofFrames = `${calls.pools} pools, ${calls.used} of ${calls.frames} frames used`;
  line(`calls per used frame, ${ofFrames}`, perFrame, 'calls a used frame', Number(perFrame));
  print(`calls per block of the same pools${calls.perBlock.toFixed(2).padStart(43)}`);
  const slower = attacked.p99 / calm.p99;
  line(
    'quotes under hostile frames, p99 of calm and then',
    `${calm.p99.toFixed(0)}, ${attacked.p99.toFixed(0)}, ${slower.toFixed(2)} x`,
    'quotes under hostile frames/calm, p99',
    slower,
  );
  line('memory, peak MB', memoryMb.toFixed(0), 'memory, MB', memoryMb);
  line('CPU without requests, % of a core', (100 * idle).toFixed(2), 'idle, % of a core', 100 * idle);
  print(
    `at default settings, ${FOLLOWED} pools, ${LIVE} of them live with four changes a second: stale, calls/s, reads/s`,
  );
  for (const [name, { share, callsPerSec, readingsPerSec }] of Object.entries({ keyed, anonymous })) {
    const stale = (share ?? 1) * 100;
    const figures = `${stale.toFixed(1)}%, ${callsPerSec.toFixed(1)}, ${readingsPerSec.toFixed(1)}`;
    line(`${name} reader`, figures, 'stale, %', stale);
  }
}
