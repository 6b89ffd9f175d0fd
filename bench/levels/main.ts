import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveMarket, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { OrderProcess } from '../../test/abuse/order-process.ts';
import type { Samples } from '../../test/harness/samples.ts';
import { serveLiveMarket, timeQuotes } from '../live/serve-live-market.ts';
import { update } from '../live/updates.ts';
import { type MeasuredProcess, startMeasuredScript } from '../measured-process.ts';
import { print } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { Verdicts } from '../verdicts.ts';
import type { ClientOrder, Counted, Seen } from './clients.ts';

const POOLS = 10;
const CHANGED = 6;
const EVERY_MS = 500;
/** Prices change so before anything is measured: V8 goes on compiling for the first 250 frames or so. */
const WARM = { everyMs: 250, seconds: 60 };
const ROUNDS = 3;
const CALM_MS = 20_000;
/** Of 100 addresses, as many as the default quota lets through. */
const PER_SECOND = 500;

interface Run {
  readonly market: LiveMarket;
  readonly clients: OrderProcess<ClientOrder>;
  readonly connections: number;
  readonly seconds: number;
  readonly messages: number;
  readonly verdicts: Verdicts<'levels'>;
}

runBench({
  name: 'levels',
  description: `The frame that all get who have no key, of 20 live pools, about as many as the demo shows on a chain, of which 6 change
twice a second, to many WebSockets, after a minute of warm-up: CPU time of a frame beside that of a bare broadcast of the same bytes,
as it is and compressed.
Then quotes while malformed calls of JSON-RPC come, 500 a second. Then calls to nodes for that frame, with one reader and with many.`,
  options: {
    connections: ['WebSockets', 1_000],
    seconds: ['of each measurement', 20],
    messages: ['malformed calls', 100_000],
  },
  run: async (options, verdicts) => {
    const market = await startLiveMarket({ flatPools: POOLS, packedPools: POOLS, guards: ['none'] });
    const clients = new OrderProcess<ClientOrder>(new URL('./clients.ts', import.meta.url));
    const run = { ...options, market, clients, verdicts };
    await measureFrames(run);
    await measureAttack(run);
    await measureCalls(run);
  },
});

/** Gives pools new prices, all in one frame, again and again. @returns ends that */
function changePrices(market: LiveMarket, count: number, everyMs = EVERY_MS): () => void {
  const timer = setInterval(() => void update(market, market.pools.slice(0, count)), everyMs);
  return () => clearInterval(timer);
}

/** The frame that all get who have no key and choose nothing. */
const publicUrl = ({ url }: Pick<MeasuredProcess, 'url'>, { chain }: LiveMarket): string =>
  `${url}/public/v1/evm/${chain.chainId}/price_levels`;

/** CPU time of a frame to all connections, milliseconds, and its bytes. */
interface FrameCost {
  readonly cpuMs: number;
  readonly frames: number;
  readonly bytes: number;
}

async function costOf(
  { clients, seconds }: Run,
  { cpuMs }: MeasuredProcess,
  { url, ...opened }: Omit<Extract<ClientOrder, { do: 'open' }>, 'do'>,
  send: () => void = () => undefined,
): Promise<FrameCost> {
  const { connections } = opened;
  await clients.ask({ do: 'open', url: url.replace('http', 'ws'), ...opened });
  await sleep(3_000);
  await clients.ask({ do: 'count' });
  const before = cpuMs();
  send();
  await sleep(seconds * 1_000);
  const cpu = cpuMs() - before;
  const { frames, bytes } = await clients.ask<Counted>({ do: 'count' });
  await clients.ask({ do: 'close' });
  return { cpuMs: (cpu * connections) / frames, frames: frames / connections, bytes };
}

/** Of all frames that were measured. */
function meanCost(costs: readonly FrameCost[]): FrameCost {
  const sum = (of: (cost: FrameCost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  const frames = sum((cost) => cost.frames);
  const bytes = Math.max(...costs.map((cost) => cost.bytes));
  return { cpuMs: sum((cost) => cost.cpuMs * cost.frames) / frames, frames: frames / costs.length, bytes };
}

async function measureFrames(run: Run): Promise<void> {
  const { market, connections, seconds, verdicts } = run;
  const server = await serveLiveMarket(market, market.chain.rpcUrl);
  const bare = await startMeasuredScript(new URL('./bare-socket.ts', import.meta.url));
  const stop = changePrices(market, market.pools.length);
  await sleep(2_000);
  stop();
  const url = publicUrl(server, market);
  const stopWarm = changePrices(market, CHANGED, WARM.everyMs);
  await costOf({ ...run, seconds: WARM.seconds }, server, { url, connections: 1 });
  stopWarm();
  const stopChanges = changePrices(market, CHANGED);
  const alone = await costOf(run, server, { url, connections: 1 });
  const pairs: (readonly [crowd: FrameCost, broadcast: FrameCost])[] = [];
  // In turn: what slows the machine for a while slows both.
  for (let round = 0; round < ROUNDS; round += 1) {
    const crowd = await costOf(run, server, { url, connections });
    const frame = 'x'.repeat(crowd.bytes);
    const broadcast = await costOf(run, bare, { url: bare.url, connections }, () => {
      const everyMs = (seconds * 1_000) / crowd.frames;
      const timer = setInterval(() => void fetch(bare.url, { method: 'POST', body: frame }), everyMs);
      setTimeout(() => clearInterval(timer), seconds * 1_000);
    });
    pairs.push([crowd, broadcast]);
  }
  const [crowd, broadcast] = [meanCost(pairs.map(([first]) => first)), meanCost(pairs.map(([, second]) => second))];
  const compressed = await costOf(run, server, { url, connections, isCompressed: true });
  const { pamms, omitted } = (await (await fetch(url)).json()) as { pamms: unknown[]; omitted: number };
  stopChanges();
  const [ratio, toPlain] = [crowd.cpuMs / broadcast.cpuMs, compressed.cpuMs / crowd.cpuMs];
  const shown = ({ cpuMs, frames }: FrameCost) => `${cpuMs.toFixed(1)} ms, ${(frames / seconds).toFixed(1)} a second`;
  print(
    `a frame of ${pamms.length} pools, without ${omitted}: ${crowd.bytes} bytes to ${connections} connections, CPU: ${shown(crowd)}`,
  );
  print(`  to one connection, reads and levels of all pools included: ${shown(alone)}`);
  print(`  bare broadcast of as many bytes: ${shown(broadcast)}`);
  print(`  ratio ${ratio.toFixed(2)}  ${verdicts.line('CPU of a frame/bare broadcast', ratio)}`);
  print(`  to as many connections that take it compressed: ${shown(compressed)}`);
  print(`  ratio ${toPlain.toFixed(2)}  ${verdicts.line('CPU of a compressed frame/as it is', toPlain)}`);
  await Promise.all([server.stop(), bare.stop()]);
}

async function measureAttack({ market, clients, messages, verdicts }: Run): Promise<void> {
  const server = await serveLiveMarket(market, market.chain.rpcUrl);
  const stop = changePrices(market, CHANGED);
  const url = `${server.url}/rpc/${market.chain.chainId}`;
  // Compiles, and fills caches and heap.
  await clients.ask({ do: 'attack', url, messages: messages / 10, perSecond: PER_SECOND });
  let isOver = false;
  const until = performance.now() + CALM_MS;
  const calm = await timeQuotes(market, server, () => performance.now() > until);
  const { heapUsed: before } = await server.heldMemory();
  const attack = clients.ask<Seen>({ do: 'attack', url, messages, perSecond: PER_SECOND }).finally(() => {
    isOver = true;
  });
  const attacked = await timeQuotes(market, server, () => isOver);
  const seen = await attack;
  const growth = (await server.heldMemory()).heapUsed / before;
  const slower = attacked.p99 / calm.p99;
  const p99 = (samples: Samples) => `${samples.p99.toFixed(1)} ms`;
  print(`${messages} malformed calls: ${JSON.stringify(seen)}`);
  print(
    `  p99 of quotes ${p99(calm)} calm, ${p99(attacked)} then: ${slower.toFixed(2)}  ${verdicts.line('quotes meanwhile, p99/calm', slower)}`,
  );
  print(
    `  heap after collection: ${(before / 1e6).toFixed(0)} MB, then ${growth.toFixed(2)} x  ${verdicts.line('heap afterwards/before', growth)}`,
  );
  stop();
}

/** Counts calls to nodes for the frame that all get who have no key and choose nothing. */
async function measureCalls({ market, clients, connections, seconds, verdicts }: Run): Promise<void> {
  const node = await startRpcProxy(market.chain.rpcUrl);
  const server = await serveLiveMarket(market, node.url);
  const stop = changePrices(market, CHANGED);
  const url = publicUrl(server, market).replace('http', 'ws');
  const callsWith = async (readers: number) => {
    await clients.ask({ do: 'open', url, connections: readers });
    await sleep(3_000);
    const before = node.requests.length;
    await sleep(seconds * 1_000);
    const calls = (node.requests.length - before) / seconds;
    const { frames } = await clients.ask<Counted>({ do: 'count' });
    if (frames < readers) throw new Error(`${frames} frames for ${readers} readers`);
    await clients.ask({ do: 'close' });
    return calls;
  };
  // What is read once of each pool.
  await callsWith(1);
  const [one, all] = [await callsWith(1), await callsWith(connections)];
  const ratio = all / one;
  print(
    `calls to nodes a second for readers without a key: ${one.toFixed(1)} with one, ${all.toFixed(1)} with ${connections}`,
  );
  print(`  ratio ${ratio.toFixed(2)}  ${verdicts.line('calls to nodes, many without a key/one', ratio)}`);
  stop();
  await Promise.all([server.stop(), node.stop()]);
}
