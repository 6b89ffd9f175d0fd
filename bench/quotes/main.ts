import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import type { Address } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { type Redis, startRedis } from '../../local/services/redis.ts';
import { pricePool, walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import { runMain } from '../../runtime/run-main.ts';
import { providerQuote } from '../../test/quotes/provider-quote.ts';
import { type QuoteWorld, startQuoteWorld } from '../../test/quotes/quote-world.ts';
import { servedPool } from '../../test/quotes/served-pool.ts';
import { Samples } from '../route/measure.ts';
import { measureMixed } from './mixed.ts';
import { measureNewBlock } from './new-block.ts';
import { measurePacked } from './packed.ts';
import { type BenchPools, makeBenchPools } from './pools.ts';
import { type QuoteServer, startQuoteServer } from './start-server.ts';

const HELP = `Usage: bench/quotes [--pools 200] [--seconds 12] [--packed | --mixed]

Quotes of pools with 60 bins a side, from cache and at a new block, beside a bare Hono route in the same process;
then a mix of requests to the service as it is run, and packed pools. With --mixed or --packed of those alone.
`;

const CONNECTIONS = 50;
const ROUNDS = 5;
const print = (line: string) => process.stdout.write(`${line}\n`);

interface Bench {
  readonly world: QuoteWorld;
  readonly chain: DevChain;
  readonly proxy: RpcProxy;
  readonly pools: BenchPools;
  readonly api: string;
  readonly limited: string;
  readonly bare: string;
  readonly seconds: number;
}

runMain(async () => {
  const { values } = parseArgs({
    options: {
      pools: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '12' },
      packed: { type: 'boolean', default: false },
      mixed: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    print(HELP);
    return;
  }
  const [pools, seconds] = [Number(values.pools), Number(values.seconds)];
  if (!values.packed && !values.mixed) await bench(pools, seconds);
  if (!values.packed) await measureMixed(seconds);
  if (!values.mixed) await measurePacked();
});

async function bench(count: number, seconds: number): Promise<void> {
  const world = await startQuoteWorld();
  const proxy = await startRpcProxy(world.anvil.url);
  let server: QuoteServer | undefined;
  let redis: Redis | undefined;
  try {
    print(`making ${count} pools ...`);
    const pools = await makeBenchPools(world, count);
    redis = await startRedis();
    server = await startQuoteServer(proxy.url, world.deployment, [...pools.guarded, ...pools.plain], 'flat', redis.url);
    const { api, limited, bare } = server;
    const run = { world, chain: world.chain, proxy, pools, seconds, api, limited, bare };
    await measureCurve(run);
    await measureNewBlock(run, 'batch of 100 at a new block, no guards', pools.plain.slice(0, 100), 5);
    const mixed = [...pools.guarded, ...pools.plain.slice(0, 80)];
    await measureNewBlock(run, 'the same with 20 guarded pools, 5 of them cut', mixed, 16);
    await measureThroughput(run);
    await measureMemory(run);
  } finally {
    await server?.stop();
    await redis?.stop();
    await proxy.stop();
    await world.stop();
  }
}

/** Depth of one pool of 121 bins, from its words to levels. */
async function measureCurve({ world, pools }: Bench): Promise<void> {
  const [pool] = pools.plain as [Address];
  const { immutables } = await servedPool(world.chain, world.deployment, pool);
  const words = await Promise.all(
    stateSlots(immutables).map((slot) => world.chain.client.getStorageAt({ address: pool, slot })),
  );
  const state = flatStorage.decodeState(
    immutables,
    words.map((word) => word ?? '0x0'),
  );
  const quote = await providerQuote(world.chain, pool);
  const runs = 2_000;
  for (let warmUp = 0; warmUp < runs; warmUp++) walkSides(pricePool(state, quote));
  const start = performance.now();
  for (let run = 0; run < runs; run++) walkSides(pricePool(state, quote));
  print(`depth of ${state.bins.length} bins: ${((performance.now() - start) / runs).toFixed(3)} ms (target < 0.5)`);
}

/** Measured in turns with a bare route that sends the same headers and body, medians of the rounds: what other work takes falls on all. */
async function measureThroughput({ api, limited, bare, pools, proxy, seconds }: Bench): Promise<void> {
  const [pool] = pools.plain as [Address];
  const body = JSON.stringify({ pools: pools.plain.slice(0, 100) });
  const batch = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } } as const;
  const cases = [
    { name: 'single from cache, depth=false', path: `/${pool}/bid_ask?depth=false`, targets: [80, 65], init: {} },
    { name: 'single from cache, 122 levels', path: `/${pool}/bid_ask`, targets: [80, 65], init: {} },
    { name: 'batch of 100 from cache', path: '/bid_ask/batch', targets: [60, 0], init: batch },
  ] as const;
  for (const { name, path, targets, init } of cases) {
    const answer = await fetch(`${api}${path}`, init);
    const same = await answer.text();
    await fetch(bare, { method: 'PUT', body: same, headers: { 'X-Headers': JSON.stringify(ownHeaders(answer)) } });
    const calls = proxy.requests.length;
    const urls = [bare, `${api}${path}`, `${limited}${path}`];
    const rates = urls.map(() => new Samples());
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, url] of urls.entries()) {
        rates[index]?.add(await rate({ url, ...init }, seconds / ROUNDS));
      }
    }
    const [trivial = Number.NaN, free = Number.NaN, counted = Number.NaN] = rates.map((each) => each.quantile(0.5));
    const share = (measured: number) => `${Math.round(measured)}/s = ${((100 * measured) / trivial).toFixed(1)}%`;
    print(`${name}, ${same.length} bytes, of ${Math.round(trivial)}/s bare:`);
    print(
      `  without limits ${share(free)} (target >= ${targets[0]}%), with ${share(counted)} (target >= ${targets[1]}%)`,
    );
    print(`  ${proxy.requests.length - calls} chain calls`);
  }
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
async function measureMemory({ api, bare, pools, world }: Bench): Promise<void> {
  const requests = pools.plain.slice(0, 50).map((pool) => ({ path: `${new URL(api).pathname}/${pool}/bid_ask` }));
  const mining = setInterval(() => void world.chain.client.mine({ blocks: 1 }), 1_000);
  const used: number[] = [];
  for (let half = 0; half < 2; half++) {
    await autocannon({ url: new URL(api).origin, connections: CONNECTIONS, amount: 50_000, requests });
    const memory = (await (await fetch(`${bare}/memory`)).json()) as { used: number; rss: number };
    used.push(memory.used);
    print(`memory after ${(half + 1) * 50_000} requests: ${mib(memory.used)} used, ${mib(memory.rss)} resident`);
  }
  clearInterval(mining);
  const [first = 0, second = 0] = used;
  print(`growth from 50,000 to 100,000 requests: ${((100 * second) / first - 100).toFixed(1)}% (target <= 10%)`);
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
