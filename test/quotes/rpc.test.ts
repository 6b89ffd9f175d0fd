import { describe, expect, test, vi } from 'vitest';
import type { Misbehaviour, ProxiedRequest } from '../../devnet/misbehaviour.ts';
import type { RpcProxy } from '../../devnet/rpc-proxy.ts';
import type { QuoteOptions } from '../../quoting/chain-bounds.ts';
import { quoteApi } from './quote-api.ts';
import {
  chainConfig,
  longTimeouts,
  makePool,
  movePrice,
  type QuoteWorld,
  quoteWorld,
  shortTimeouts,
  startQuoteWorld,
} from './quote-world.ts';
import { directoryOf } from './served-pool.ts';
import { withProxies } from './with-proxies.ts';

const READ_FAILED = [500, '{"error":"Internal server error"}'];
const CLOSED_ASK = ((1n << 128n) - 1n).toString();
const UNAVAILABLE = [503, '{"error":"Service temporarily unavailable"}'];

const world = quoteWorld(async (on, ends) => {
  const rejections: unknown[] = [];
  ends.defer(() => expect(rejections).toEqual([]));
  const onRejection = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  ends.defer(() => void process.off('unhandledRejection', onRejection));
  const elsewhere = await startQuoteWorld(31338);
  ends.defer(elsewhere.stop);
  // The same pool at the same address on both chains: only the chain id distinguishes them.
  const make = async (chain: QuoteWorld) =>
    makePool(chain, { pair: await chain.pair(18, 6), price: 2_000, salt: `0x${'01'.repeat(32)}` });
  const pool = await make(on);
  expect((await make(elsewhere)).address).toBe(pool.address);
  return { pool, elsewhere, directory: await directoryOf(on, [pool.address]) };
});

const withNodes = (run: (first: RpcProxy, second: RpcProxy) => Promise<void>) => withProxies(world.anvil.url, run);

const FAULTS: readonly (readonly [string, Misbehaviour])[] = [
  ['down', { kind: 'down' }],
  ['silent', { kind: 'hanging' }],
  ['too slow', { kind: 'slow', ms: 20_000 }],
  ['answering half and then nothing', { kind: 'trickle' }],
  ['answering with a web page', { kind: 'text', status: 200, body: '<html>hello</html>' }],
  ['answering with 502', { kind: 'text', status: 502, body: 'Bad Gateway' }],
  ['answering with 429', { kind: 'text', status: 429, body: '{"error":"slow down"}' }],
  ['answering null', { kind: 'text', status: 200, body: 'null' }],
  ['answering with an empty result', { kind: 'result', result: '0x' }],
  ['answering with a result that is no hex', { kind: 'result', result: { hello: 1 } }],
  ['answering with a result of noise', { kind: 'result', result: `0x${'ab'.repeat(640)}` }],
];

const everything = () => true;
const onlyCalls = ({ method }: ProxiedRequest) => method === 'eth_call';

/** Over nodes that may be silent. */
const apiOverSilent = (
  urls: readonly string[],
  kind: 'ethereum' | 'bsc' = 'bsc',
  quotes: QuoteOptions = shortTimeouts,
) =>
  quoteApi({
    chain: chainConfig(31337, urls, { blockTimeMs: 100, pamm: { kind, builders: [] } }),
    directory: world.directory,
    quotes,
  });

/** Over nodes that answer, whatever that is. */
const apiOver = (urls: readonly string[]) => apiOverSilent(urls, 'bsc', { ...longTimeouts, minRefreshMs: 20 });

/** Of nodes that fail in such a way. */
const apiFor = ({ kind }: Misbehaviour) => (['hanging', 'slow', 'trickle'].includes(kind) ? apiOverSilent : apiOver);

const url = () => `/public/v1/evm/31337/${world.pool.address}/bid_ask`;

type Api = ReturnType<typeof quoteApi>;
const ask = async (api: Api) => {
  const { status, text } = await api.request(url());
  return [status, text];
};

/** Asks until it is well again; the breakers pause for half a second and longer. */
const recovers = (api: Api) =>
  vi.waitUntil(async () => (await ask(api))[0] === 200, { timeout: 40_000, interval: 100 });

/** Asks until the pool has its price again. */
const healthy = (api: Api) =>
  expect.poll(() => api.quote(world.pool.address), { interval: 20 }).toMatchObject({ priceProviderStatus: 'healthy' });

/** Mines a block, and asks until the old one is not served any more. */
async function untilFailed(api: Api, failure: readonly unknown[]): Promise<void> {
  await world.chain.client.mine({ blocks: 1 });
  await expect.poll(() => ask(api), { interval: 20 }).toEqual(failure);
}

/** Asks until a node has been asked for the head once more than before. */
async function untilSeen(api: Api, { requests }: RpcProxy): Promise<void> {
  const heads = () => requests.filter(({ method }) => method === 'eth_getBlockByNumber').length;
  const before = heads();
  const seen = async () => {
    await ask(api);
    return heads();
  };
  await expect.poll(seen, { interval: 20 }).toBeGreaterThan(before);
}

describe.concurrent.each([
  ['everything', everything],
  ['calls alone', onlyCalls],
])('a node that fails at %s', (_what, when) => {
  test.each(FAULTS)('%s: 500, and recovery without a restart', (_name, fault) =>
    withNodes(async (first) => {
      const api = apiFor(fault)([first.url]);
      expect((await ask(api))[0]).toBe(200);
      first.misbehave(fault, when);
      await untilFailed(api, READ_FAILED);
      first.misbehave(null);
      await recovers(api);
    }),
  );

  test.each(FAULTS)('%s: the next node answers for it', (_name, fault) =>
    withNodes(async (first, second) => {
      const api = apiFor(fault)([first.url, second.url]);
      first.misbehave(fault, when);
      expect((await ask(api))[0]).toBe(200);
    }),
  );
});

test('a node that keeps failing is left alone for a while', () =>
  withNodes(async (first, second) => {
    const api = apiOver([first.url, second.url]);
    first.misbehave({ kind: 'down' });
    const statuses = new Set<number>();
    for (let block = 0; block < 6; block++) {
      await world.chain.client.mine({ blocks: 1 });
      const number = await world.chain.client.getBlockNumber();
      const quoted = async () => {
        const { status, headers } = await api.request(url());
        statuses.add(status);
        return BigInt(headers.get('X-Block-Number') ?? 0);
      };
      await expect.poll(quoted, { interval: 20 }).toBeGreaterThanOrEqual(number);
    }
    expect(statuses).toEqual(new Set([200]));
    expect(second.requests.length).toBeGreaterThan(12);
    // Trials grow with the logarithm of the time; without a breaker the first node would be asked as often
    // as the second.
    expect(first.requests.length).toBeLessThan((2 * second.requests.length) / 3);
  }));

describe('a node of another chain', () => {
  test('alone: 500, never a quote of the other chain', () =>
    withNodes(async (first) => {
      const api = apiOver([first.url]);
      expect((await ask(api))[0]).toBe(200);
      first.misbehave({ kind: 'elsewhere', url: world.elsewhere.anvil.url });
      await world.elsewhere.chain.client.mine({ blocks: 50 });
      await untilFailed(api, READ_FAILED);
      for (let tries = 0; tries < 3; tries++) expect(await ask(api)).toEqual(READ_FAILED);
      first.misbehave(null);
      await recovers(api);
    }));

  test.each([true, false])('before an honest one, from the beginning: %s: the honest one answers always', (isFirst) =>
    withNodes(async (first, second) => {
      const api = apiOver([first.url, second.url]);
      const { client } = world.chain;
      await movePrice(world.elsewhere, world.pool, 1_000);
      const expected = (await apiOver([second.url]).quote(world.pool.address)).bidAdj;
      if (!isFirst) await api.quote(world.pool.address);
      first.misbehave({ kind: 'elsewhere', url: world.elsewhere.anvil.url });
      const answers = new Set<string>();
      for (let block = 0; block < 6; block += 1) {
        await Promise.all([world.elsewhere.chain.client.mine({ blocks: 50 }), client.mine({ blocks: 1 })]);
        const number = await client.getBlockNumber();
        const quoted = async () => {
          const { status, headers, text } = await api.request(url());
          answers.add(`${status} ${JSON.parse(text).bidAdj}`);
          return BigInt(headers.get('X-Block-Number') ?? 0);
        };
        await expect.poll(quoted, { interval: 20 }).toBeGreaterThanOrEqual(number);
      }
      expect([...answers]).toEqual([`200 ${expected}`]);
    }),
  );
});

describe('a node that reports an old block', () => {
  test('never takes quotes back to it', () =>
    withNodes(async (first) => {
      const api = apiOver([first.url]);
      const before = await world.chain.client.getBlockNumber();
      await movePrice(world, world.pool, 2_100);
      const current = await api.quote(world.pool.address);
      first.misbehave({ kind: 'staleHead', block: `0x${before.toString(16)}` });
      await untilSeen(api, first);
      expect((await api.quote(world.pool.address)).bidAdj).toBe(current.bidAdj);
    }));

  test('does not hold back a node that knows better', () =>
    withNodes(async (first, second) => {
      const api = apiOver([first.url, second.url]);
      await api.quote(world.pool.address);
      const stuck = await world.chain.client.getBlockNumber();
      first.misbehave({ kind: 'staleHead', block: `0x${stuck.toString(16)}` });
      await movePrice(world, world.pool, 2_200);
      const price = async () => Number(BigInt((await api.quote(world.pool.address)).bidAdj) / (1n << 44n)) / 2 ** 20;
      await expect.poll(price).toBeGreaterThan(2_190);
    }));

  test('a reorganised chain is followed', () =>
    withNodes(async (first) => {
      const api = apiOver([first.url]);
      await movePrice(world, world.pool, 2_300);
      const onFork = await api.quote(world.pool.address);
      await world.chain.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
      const bid = async () => (await api.quote(world.pool.address)).bidAdj;
      await expect.poll(bid).not.toBe(onFork.bidAdj);
    }));
});

describe('on a chain of kind ethereum', () => {
  test('a price read that is too slow is 503', () =>
    withNodes(async (first) => {
      const api = apiOverSilent([first.url], 'ethereum');
      expect((await ask(api))[0]).toBe(200);
      first.misbehave({ kind: 'hanging' }, onlyCalls);
      await untilFailed(api, UNAVAILABLE);
    }));
});

test('a read that times out is 500 for the request that started it, 503 for requests that joined it', () =>
  withNodes(async (first) => {
    const api = apiOverSilent([first.url]);
    expect((await ask(api))[0]).toBe(200);
    first.misbehave({ kind: 'hanging' }, onlyCalls);
    await world.chain.client.mine({ blocks: 1 });
    // Until the old block is not served any more, to none of the three.
    const answers = () => Promise.all([ask(api), ask(api), ask(api)]);
    const failed = () => answers().then((all) => all.every(([status]) => status !== 200) && all);
    const failures = await vi.waitUntil(failed, { interval: 20 });
    expect(failures).toEqual([READ_FAILED, UNAVAILABLE, UNAVAILABLE]);
  }));

test('a batch carries the failures of its pools as 500s inside a 200', () =>
  withNodes(async (first) => {
    const api = apiOver([first.url]);
    first.misbehave({ kind: 'down' });
    expect(await api.results([world.pool.address])).toEqual([
      { poolAddress: world.pool.address, error: { status: 500, error: 'Internal server error' } },
    ]);
  }));

test('a batch that takes too long fails as a whole with 503, and its reads are there for the next one', () =>
  withNodes(async (first) => {
    const chain = chainConfig(31337, [first.url], { blockTimeMs: 60_000 });
    // A busy machine knows the head by then.
    const quotes = { ...longTimeouts, minRefreshMs: 60_000 };
    const api = quoteApi({ chain, directory: world.directory, quotes, batchDeadlineMs: 1_500 });
    const { promise: until, resolve: letThrough } = Promise.withResolvers<void>();
    first.misbehave({ kind: 'held', until }, onlyCalls);
    const { status, text } = await api.batch({ pools: [world.pool.address] });
    expect([status, text]).toEqual(UNAVAILABLE);
    letThrough();
    first.misbehave(null);
    await expect.poll(() => api.calls.length).toBe(5);
    expect((await api.batch({ pools: [world.pool.address] })).status).toBe(200);
    expect(api.calls).toEqual(['eth_getBlockByNumber:ok', 'eth_chainId:ok', ...Array(3).fill('eth_call:ok')]);
  }));

/** Hash of the block that a call is made at. */
const blockOf = ({ params: [, block] }: ProxiedRequest) => JSON.stringify(block);

/** Calls of creation code: those that ask pools for their prices. */
const onlyPriceCalls = ({ method, params: [call] }: ProxiedRequest) =>
  method === 'eth_call' && typeof call === 'object' && call !== null && !('to' in call);

test('a node that gives storage and refuses to ask for prices: internal_error, until it asks again', () =>
  withNodes(async (first) => {
    const api = apiOver([first.url]);
    first.misbehave({ kind: 'error', code: -32000, message: 'out of gas' }, onlyPriceCalls);
    for (const depth of [true, false]) {
      expect(await api.quote(world.pool.address, depth)).toMatchObject({
        priceProviderStatus: 'internal_error',
        bidAdj: '0',
        askAdj: CLOSED_ASK,
        totalToken0Available: null,
        totalToken1Available: null,
        depth: depth ? { bids: [], asks: [] } : null,
      });
    }
    expect(await api.results([world.pool.address], false)).toMatchObject([
      { quote: { priceProviderStatus: 'internal_error', bidAdj: '0', depth: null } },
    ]);
    first.misbehave(null);
    await world.chain.client.mine({ blocks: 1 });
    await healthy(api);
  }));

test('a block that is gone when prices are asked for, after its storage was read, is not quoted', () =>
  withNodes(async (first) => {
    const api = apiOver([first.url]);
    let gone: string | undefined;
    first.misbehave({ kind: 'error', code: -32000, message: 'block not found' }, (request) => {
      if (gone === undefined && onlyPriceCalls(request)) gone = blockOf(request);
      return request.method === 'eth_call' && gone === blockOf(request);
    });
    expect(await ask(api)).toEqual(READ_FAILED);
    await world.chain.client.mine({ blocks: 1 });
    await recovers(api);
    await healthy(api);
  }));
