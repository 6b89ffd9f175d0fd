import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { Misbehaviour } from '../../devnet/misbehaviour.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { quoteApi } from './quote-api.ts';
import { chainConfig, makePool, quoteWorld, shortTimeouts } from './quote-world.ts';
import { directoryOf, fixedDirectory, servedPool } from './served-pool.ts';
import { withProxies } from './with-proxies.ts';

/*
 * Failures of nodes differ from defects: by a label, a `Retry-After`, and one line when they begin and when they end.
 */

const QUIET_MS = 300;
const REQUESTS = 20;
const quotes = { ...shortTimeouts, nodesQuietMs: QUIET_MS };

const world = quoteWorld(async (on) => {
  const pool = await makePool(on, { pair: await on.pair(18, 6), price: 2_000 });
  return { pool, directory: await directoryOf(on, [pool.address]) };
});

type Line = { readonly level: number; readonly msg: string; readonly fault?: string; readonly chainId?: number };

/** An API over one node, with its log. */
function startApi(url: string, kind: 'ethereum' | 'bsc', of: PoolDirectory = world.directory) {
  const lines: Line[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const chain = chainConfig(31337, [url], { blockTimeMs: 100, pamm: { kind, builders: [] } });
  const api = quoteApi({ chain, directory: of, quotes, logger });
  const ask = () => api.request(`/public/v1/evm/31337/${world.pool.address}/bid_ask`);
  return { api, lines, ask };
}

const FAULTS: readonly (readonly [string, Misbehaviour])[] = [
  ['down', { kind: 'down' }],
  ['hanging', { kind: 'hanging' }],
  ['too slow', { kind: 'slow', ms: 20_000 }],
  ['limiting by status', { kind: 'text', status: 429, body: '{"error":"slow down"}' }],
  ['limiting by a JSON-RPC error', { kind: 'error', code: -32_005, message: 'limit exceeded' }],
  ['speaking HTML', { kind: 'text', status: 200, body: '<html>hello</html>' }],
  ['of no account', { kind: 'text', status: 401, body: 'Must be authenticated!' }],
];

const BEGIN = 'no node of the chain answers: its quotes and routes fail';
const END = 'nodes of the chain answer again';

test.concurrent.each(
  FAULTS.flatMap(([name, fault]) => (['bsc', 'ethereum'] as const).map((kind) => [name, kind, fault] as const)),
)('a node that is %s, on %s', (_name, kind, fault) =>
  withProxies(world.anvil.url, async (node) => {
    const { api, lines, ask } = startApi(node.url, kind);
    expect((await ask()).status).toBe(200);
    node.misbehave(fault);
    await world.chain.client.mine({ blocks: 1 });
    let served = 1;
    // The last block is served while it is fresh.
    await vi.waitUntil(
      async () => {
        const isServed = (await ask()).status === 200;
        if (isServed) served += 1;
        return !isServed;
      },
      { timeout: 40_000, interval: 20 },
    );
    const responses = await Promise.all(Array.from({ length: REQUESTS }, ask));
    for (let n = 0; n < REQUESTS / 2; n += 1) responses.push(await ask());
    for (const { status, headers } of responses) {
      expect([500, 503]).toContain(status);
      expect(headers.get('Retry-After')).toMatch(/^[1-9]$/);
    }
    expect(await api.countFaults()).toEqual({ none: served, nodes: 1 + 1.5 * REQUESTS });
    expect(lines.map(({ msg, level, chainId }) => [msg, level, chainId])).toEqual([[BEGIN, 40, 31337]]);

    node.misbehave(null);
    await vi.waitUntil(async () => (await ask()).status === 200, { timeout: 40_000, interval: 100 });
    const ended = async () => {
      await ask();
      return lines.length > 1;
    };
    await vi.waitUntil(ended, { timeout: 40_000, interval: 100 });
    expect(lines.slice(1)).toEqual([expect.objectContaining({ msg: END, level: 30, failures: expect.any(Number) })]);
    await api.stop();
  }),
);

test('a defect has its own line each time, and no Retry-After', async () => {
  const broken: PoolDirectory = {
    table: async () => {
      throw new TypeError('a defect');
    },
  };
  const { api, lines, ask } = startApi(world.anvil.url, 'bsc', broken);
  const responses = [await ask(), await ask()];
  expect(responses.map(({ status, headers }) => [status, headers.get('Retry-After')])).toEqual([
    [500, null],
    [500, null],
  ]);
  expect(await api.countFaults()).toEqual({ defect: 2 });
  expect(lines.map(({ level, fault }) => [level, fault])).toEqual([
    [50, 'defect'],
    [50, 'defect'],
  ]);
  await api.stop();
});

test('a pool that cannot be read is neither', async () => {
  const served = await servedPool(world.chain, world.deployment, world.pool.address);
  const { api } = startApi(world.anvil.url, 'bsc', fixedDirectory([{ ...served, address: `0x${'77'.repeat(20)}` }]));
  expect((await api.request(`/public/v1/evm/31337/0x${'77'.repeat(20)}/bid_ask`)).status).toBe(500);
  expect(await api.countFaults()).toEqual({ pool: 1 });
  await api.stop();
});
