import autocannon from 'autocannon';
import type { Address } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startRedis } from '../../local/services/redis.ts';
import { pricePool, walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import { Samples } from '../../test/harness/samples.ts';
import { providerQuote } from '../../test/quotes/provider-quote.ts';
import { type QuoteWorld, startQuoteWorld } from '../../test/quotes/quote-world.ts';
import { servedPool } from '../../test/quotes/served-pool.ts';
import { print } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { measureMixed } from './mixed.ts';
import { measureNewBlock } from './new-block.ts';
import { measurePacked } from './packed.ts';
import { type BenchPools, makeBenchPools } from './pools.ts';
import { type QuoteServer, serveQuotes } from './serve-quotes.ts';

const CONNECTIONS = 50;
const ROUNDS = 5;
const BATCH = 100;
const GUARDED = 20;

interface Run extends QuoteServer {
  readonly world: QuoteWorld;
  readonly chain: DevChain;
  readonly proxy: RpcProxy;
  readonly pools: BenchPools;
  readonly seconds: number;
  readonly verdicts: Verdicts<'quotes'>;
}

runBench({
  name: 'quotes',
  description: `Quotes of pools with 60 bins a side, from cache and at a new block, beside a bare Hono route in the same process;
then a mix of requests to the service as it is run, and packed pools. With --mixed or --packed of those alone.`,
  options: {
    pools: ['with 60 bins a side', 200],
    seconds: ['of each load', 12],
    packed: ['packed pools alone', false],
    mixed: ['the mix alone', false],
  },
  run: async ({ pools, seconds, packed, mixed }, verdicts) => {
    if (!packed && !mixed) await measureFlat(pools, seconds, verdicts);
    if (!packed) await measureMixed(seconds, verdicts);
    if (!mixed) await measurePacked(verdicts);
  },
});

async function measureFlat(count: number, seconds: number, verdicts: Verdicts<'quotes'>): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const world = await startQuoteWorld();
  ends.defer(world.stop);
  const proxy = await startRpcProxy(world.anvil.url);
  ends.defer(proxy.stop);
  print(`making ${count} pools ...`);
  const pools = await makeBenchPools(world, count);
  const redis = await startRedis();
  ends.defer(redis.stop);
  const all = [...pools.guarded, ...pools.plain];
  const { deployment, chain } = world;
  const server = await serveQuotes({ rpcUrl: proxy.url, deployment, pools: all, redisUrl: redis.url });
  ends.defer(server.stop);
  const run: Run = { ...server, world, chain, proxy, pools, seconds, verdicts };
  await measureCurve(run);
  await measureNewBlock(run, pools.plain.slice(0, BATCH), {
    name: 'batch of 100 at a new block, no guards',
    figure: 'calls, batch of 100',
  });
  await measureNewBlock(run, [...pools.guarded, ...pools.plain.slice(0, BATCH - GUARDED)], {
    name: 'the same with 20 guarded pools, 5 of them cut',
    figure: 'calls, batch with 20 guarded pools',
  });
  await measureThroughput(run);
  await measureMemory(run);
}

/** Depth of one pool of 121 bins, from its words to levels. */
async function measureCurve({ world, chain, pools, verdicts }: Run): Promise<void> {
  const [address] = pools.plain as [Address];
  const { immutables } = await servedPool(chain, world.deployment, address);
  const words = await Promise.all(
    stateSlots(immutables).map(async (slot) => (await chain.client.getStorageAt({ address, slot })) ?? '0x0'),
  );
  const state = flatStorage.decodeState(immutables, words);
  const quote = await providerQuote(chain, address);
  const runs = 2_000;
  for (let warmUp = 0; warmUp < runs; warmUp++) walkSides(pricePool(state, quote));
  const start = performance.now();
  for (let run = 0; run < runs; run++) walkSides(pricePool(state, quote));
  const ms = (performance.now() - start) / runs;
  print(`depth of ${state.bins.length} bins: ${ms.toFixed(3)} ms (${verdicts.line('curve, ms', ms)})`);
}

interface Cached {
  readonly name: string;
  readonly path: string;
  /** Without limits, and with them. */
  readonly figures: readonly [FigureOf<'quotes'>, FigureOf<'quotes'>?];
  readonly init?: { readonly method: 'POST'; readonly body: string; readonly headers: Record<string, string> };
}

async function measureThroughput(run: Run): Promise<void> {
  const [pool] = run.pools.plain as [Address];
  const body = JSON.stringify({ pools: run.pools.plain.slice(0, BATCH) });
  const cases: readonly Cached[] = [
    {
      name: 'single from cache, depth=false',
      path: `/${pool}/bid_ask?depth=false`,
      figures: ['cached/same bytes, small, %', 'cached/same bytes, small, limited, %'],
    },
    {
      name: 'single from cache, 122 levels',
      path: `/${pool}/bid_ask`,
      figures: ['cached/same bytes, 122 levels, %', 'cached/same bytes, 122 levels, limited, %'],
    },
    {
      name: 'batch of 100 from cache',
      path: '/bid_ask/batch',
      figures: ['cached/same bytes, batch of 100, %'],
      init: { method: 'POST', body, headers: { 'Content-Type': 'application/json' } },
    },
  ];
  for (const each of cases) await measureCached(run, each);
}

/**
 * Measured in turns with a bare route that sends the same headers and body, medians of the rounds:
 * what other work takes falls on all.
 */
async function measureCached(run: Run, { name, path, figures, init }: Cached): Promise<void> {
  const { api, limited, bare, proxy, seconds, verdicts } = run;
  const answer = await fetch(`${api}${path}`, init);
  const same = await answer.text();
  await fetch(bare, { method: 'PUT', body: same, headers: { 'X-Headers': JSON.stringify(ownHeaders(answer)) } });
  const calls = proxy.requests.length;
  const urls = [bare, `${api}${path}`, `${limited}${path}`];
  const rates = urls.map(() => new Samples());
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, url] of urls.entries()) rates[index]?.add(await rate({ url, ...init }, seconds / ROUNDS));
  }
  const [trivial = Number.NaN, ...own] = rates.map(({ median }) => median);
  const shown = own.map((measured, index) => {
    const [share, figure] = [(100 * measured) / trivial, figures[index]];
    return `${Math.round(measured)}/s = ${share.toFixed(1)}%${figure ? ` (${verdicts.line(figure, share)})` : ''}`;
  });
  print(`${name}, ${same.length} bytes, of ${Math.round(trivial)}/s bare:`);
  print(`  without limits ${shown[0]}, with ${shown[1]}`);
  print(`  ${proxy.requests.length - calls} chain calls`);
}

/** Headers of an answer but those that the server adds by itself. */
const ownHeaders = ({ headers }: Response) =>
  [...headers].filter(([name]) => !['connection', 'content-length', 'date', 'keep-alive'].includes(name));

async function rate(
  target: Pick<autocannon.Options, 'url' | 'method' | 'body' | 'headers'>,
  seconds: number,
): Promise<number> {
  const result = await autocannon({ ...target, connections: CONNECTIONS, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${target.url}: ${result.non2xx} not 200, ${result.errors} errors`);
  return result.requests.average;
}

/** New blocks come all the while, so that snapshots are made and dropped. */
async function measureMemory({ api, heldMemory, pools, chain, verdicts }: Run): Promise<void> {
  const requests = pools.plain.slice(0, 50).map((pool) => ({ path: `${new URL(api).pathname}/${pool}/bid_ask` }));
  const mining = setInterval(() => void chain.client.mine({ blocks: 1 }), 1_000);
  const used: number[] = [];
  for (let half = 0; half < 2; half++) {
    await autocannon({ url: new URL(api).origin, connections: CONNECTIONS, amount: 50_000, requests });
    const { heapUsed, external, rss } = await heldMemory();
    used.push(heapUsed + external);
    print(`memory after ${(half + 1) * 50_000} requests: ${mib(heapUsed + external)} used, ${mib(rss)} resident`);
  }
  clearInterval(mining);
  const [first = 0, second = 0] = used;
  const growth = (100 * second) / first - 100;
  print(`growth from 50,000 to 100,000 requests: ${growth.toFixed(1)}% (${verdicts.line('memory growth, %', growth)})`);
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
