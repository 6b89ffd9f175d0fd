import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { type LiveMarket, priceAround, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { runMain } from '../../runtime/run-main.ts';
import { serverCpuMs } from '../hostile/cpu-time.ts';
import { serveLiveMarket } from '../live/serve-live-market.ts';
import { startMeasuredServer } from '../measured-server.ts';
import { OrderProcess } from '../order-process.ts';
import { Samples } from '../route/measure.ts';
import type { Attack, ClientOrder, Counted } from './clients.ts';

const POOLS = 10;
const CHANGED = 6;
const EVERY_MS = 500;
const CALM_MS = 20_000;
/** Of 100 addresses, as many as the default quota lets through. */
const PER_SECOND = 500;
const MAX_CPU_RATIO = 2;
const MAX_SLOWER = 3;
const MAX_GROWTH = 1.1;
const random = seededRandom(28);
const write = (line: string) => process.stdout.write(`${line}\n`);
const verdict = (value: number, target: number) => `target ${target} x  ${value <= target ? 'pass' : 'MISS'}`;

runMain(async () => {
  const { connections, seconds, messages } = new Command('bench:levels')
    .description(
      `Price levels of 20 live pools, of which 6 change twice a second, to many WebSockets: CPU time of a frame beside that of
a bare broadcast of the same bytes. Then quotes while malformed calls of JSON-RPC come, 500 a second.`,
    )
    .option('--connections <number>', 'WebSockets', '1000')
    .option('--seconds <number>', 'of each measurement', '20')
    .option('--messages <number>', 'malformed calls', '100000')
    .parse()
    .opts<Record<'connections' | 'seconds' | 'messages', string>>();
  const market = await startLiveMarket({ flatPools: POOLS, packedPools: POOLS, guards: ['none'] });
  const clients = new OrderProcess<ClientOrder>(new URL('./clients.ts', import.meta.url));
  try {
    await measureFrames(market, clients, Number(connections), Number(seconds));
    await measureAttack(market, clients, Number(messages));
  } finally {
    clients.stop();
    await market.close();
    await stopRunningServices();
  }
});

/** Gives pools new prices for the block that is being built, all in one frame, again and again. @returns ends that */
function changePrices({ builder, pools }: LiveMarket, count: number): () => void {
  const change = async () => {
    const changed = pools.slice(0, count);
    const price = () => priceAround(BigInt(random.integer(190, 210)));
    for (const update of await Promise.all(changed.map((pool) => pool.maker.sign(builder.block(), price()))))
      builder.submit(update);
  };
  const timer = setInterval(() => void change(), EVERY_MS);
  return () => clearInterval(timer);
}

const poolsOf = ({ pools }: LiveMarket) => pools.map(({ address }) => address).join();

/** CPU time of a frame to all connections, milliseconds, and its bytes. */
interface FrameCost {
  readonly cpuMs: number;
  readonly frames: number;
  readonly bytes: number;
}

async function costOf(
  clients: OrderProcess<ClientOrder>,
  { pid, url }: { readonly pid: number; readonly url: string },
  connections: number,
  seconds: number,
  send: () => Promise<void>,
): Promise<FrameCost> {
  await clients.ask({ do: 'open', url, connections });
  await sleep(3_000);
  await clients.ask({ do: 'count' });
  const before = serverCpuMs(pid);
  await send();
  await sleep(seconds * 1_000);
  const cpu = serverCpuMs(pid) - before;
  const { frames, bytes } = await clients.ask<Counted>({ do: 'count' });
  await clients.ask({ do: 'close' });
  return { cpuMs: (cpu * connections) / frames, frames: frames / connections, bytes };
}

async function measureFrames(
  market: LiveMarket,
  clients: OrderProcess<ClientOrder>,
  connections: number,
  seconds: number,
): Promise<void> {
  const server = await serveLiveMarket(market, market.chain.rpcUrl);
  const bare = await startMeasuredServer(new URL('./bare-socket.ts', import.meta.url));
  const stop = changePrices(market, market.pools.length);
  try {
    await sleep(2_000);
    stop();
    const stopChanges = changePrices(market, CHANGED);
    const path = `/public/v1/evm/${market.chain.chainId}/price_levels?pools=${poolsOf(market)}`;
    const ws = (url = '') => url.replace('http', 'ws');
    const served = { pid: server.pid, url: `${ws(server.urls[0])}${path}` };
    const none = async () => undefined;
    const alone = await costOf(clients, served, 1, seconds, none);
    const crowd = await costOf(clients, served, connections, seconds, none);
    stopChanges();
    const frame = 'x'.repeat(crowd.bytes);
    const everyMs = (seconds * 1_000) / crowd.frames;
    const broadcast = await costOf(
      clients,
      { pid: bare.pid, url: ws(bare.urls[0]) },
      connections,
      seconds,
      async () => {
        const timer = setInterval(() => void fetch(bare.urls[0] ?? '', { method: 'POST', body: frame }), everyMs);
        setTimeout(() => clearInterval(timer), seconds * 1_000);
      },
    );
    const ratio = crowd.cpuMs / broadcast.cpuMs;
    const shown = ({ cpuMs, frames }: FrameCost) => `${cpuMs.toFixed(1)} ms, ${(frames / seconds).toFixed(1)} a second`;
    write(`a frame of ${crowd.bytes} bytes to ${connections} connections, CPU: ${shown(crowd)}`);
    write(`  to one connection, reads and levels of all pools included: ${shown(alone)}`);
    write(`  bare broadcast of as many bytes: ${shown(broadcast)}`);
    write(`  ratio ${ratio.toFixed(2)}  ${verdict(ratio, MAX_CPU_RATIO)}`);
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}

async function measureAttack(market: LiveMarket, clients: OrderProcess<ClientOrder>, messages: number): Promise<void> {
  const server = await serveLiveMarket(market, market.chain.rpcUrl);
  const stop = changePrices(market, CHANGED);
  try {
    const [url = ''] = server.urls;
    const base = `${url}/public/v1/evm/${market.chain.chainId}`;
    const rpc = `${url}/rpc/${market.chain.chainId}`;
    // Compiles, and fills caches and heap.
    await clients.ask({ do: 'attack', url: rpc, messages: messages / 10, perSecond: PER_SECOND });
    let isOver = false;
    const until = performance.now() + CALM_MS;
    const calm = await timeQuotes(market, base, () => performance.now() > until);
    const heldBytes = async () => Number(await (await fetch(server.urls[1] ?? '')).text());
    const before = await heldBytes();
    const attack = clients.ask<Attack>({ do: 'attack', url: rpc, messages, perSecond: PER_SECOND }).finally(() => {
      isOver = true;
    });
    const attacked = await timeQuotes(market, base, () => isOver);
    const { seen } = await attack;
    const growth = (await heldBytes()) / before;
    const slower = attacked.quantile(0.99) / calm.quantile(0.99);
    write(`${messages} malformed calls: ${JSON.stringify(seen)}`);
    const p99 = (samples: Samples) => `${samples.quantile(0.99).toFixed(1)} ms`;
    write(
      `  p99 of quotes ${p99(calm)} calm, ${p99(attacked)} then: ${slower.toFixed(2)}  ${verdict(slower, MAX_SLOWER)}`,
    );
    write(
      `  heap after collection: ${(before / 1e6).toFixed(0)} MB, then ${growth.toFixed(2)} x  ${verdict(growth, MAX_GROWTH)}`,
    );
  } finally {
    stop();
    await server.stop();
  }
}

async function timeQuotes(market: LiveMarket, base: string, isOver: () => boolean): Promise<Samples> {
  const times = new Samples();
  while (!isOver()) {
    const startedAt = performance.now();
    const response = await fetch(`${base}/${random.pick(market.pools).address}/bid_ask`);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a quote: ${response.status}`);
    times.add(performance.now() - startedAt);
    await sleep(10);
  }
  return times;
}
