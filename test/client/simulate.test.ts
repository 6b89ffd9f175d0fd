import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { transform } from 'esbuild';
import { execa } from 'execa';
import { createPublicClient, http, toFunctionSelector } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { maxIn, maxOut, quoteExactIn, quoteExactOut } from '../../client/math.ts';
import {
  type Eip1193Provider,
  OverridesIgnoredError,
  SwapRevertedError,
  simulateExactIn,
  simulateExactOut,
} from '../../client/simulate.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type LiveQuote, startLiveWorld, updateAll, waitForLive, waitForUpdates } from '../live/live-world.ts';
import { installClient, linkPackages } from './install.ts';

const SIDES = ['bids', 'asks'] as const;

const world = startedWorld(startLiveWorld);
let node: Eip1193Provider;
beforeAll(() => {
  node = createPublicClient({ transport: http(world.market.chain.rpcUrl) });
});

/** Live quotes of all pools, as a client makes them ready for a simulation. */
async function liveQuotes(): Promise<LiveQuote[]> {
  await waitForUpdates(world, await updateAll(world.market, () => 201n));
  await waitForLive(world);
  const { results, overrides } = await world.batch({ include: 'stateOverride' });
  return results.map((result) => {
    if (!('quote' in result)) throw new Error(result.error.error);
    expect(result.quote.basis?.kind).toBe('live');
    return { ...result.quote, overrides };
  });
}

test('a live quote is simulated in the block that is being built, also after it was built', async () => {
  const quotes = await liveQuotes();
  const simulated = async () => {
    for (const quote of quotes) {
      for (const side of SIDES) {
        const levels = quote.depth?.[side] ?? [];
        const [input, output] = [maxIn(levels), maxOut(levels)];
        expect(await simulateExactIn(node, { quote, side }, input)).toEqual({ amountIn: input, amountOut: output });
        const sold = await simulateExactIn(node, { quote, side }, input / 3n);
        expect(sold.amountIn).toBe(input / 3n);
        expect(sold.amountOut).toBeGreaterThanOrEqual(quoteExactIn(levels, input / 3n).amountOutFloor);
        for (const amount of [output / 3n, output]) {
          const bought = await simulateExactOut(node, { quote, side }, amount);
          expect(bought.amountOut).toBe(amount);
          expect(bought.amountIn).toBeLessThanOrEqual(quoteExactOut(levels, amount).amountInCeil);
        }
      }
    }
  };
  await simulated();
  await world.market.builder.buildBlock();
  await simulated();
});

test('a committed quote is simulated at its block, and the overrides of others do not matter', async () => {
  const [pool] = world.market.pools;
  const [live] = await liveQuotes();
  world.market.builder.setLanding('every');
  await world.market.builder.buildBlock();
  const { results } = await world.batch({ pools: [pool?.address], basis: 'committed' });
  const { quote } = results[0] as { quote: LiveQuote };
  const levels = quote.depth?.bids ?? [];
  const amounts = { amountIn: maxIn(levels), amountOut: maxOut(levels) };
  for (const overrides of [live?.overrides, null, undefined]) {
    expect(await simulateExactIn(node, { quote: { ...quote, overrides }, side: 'bids' }, maxIn(levels))).toEqual(
      amounts,
    );
  }
  // Of chains without live prices.
  const { basis: _, ...withoutBasis } = quote;
  expect(await simulateExactIn(node, { quote: withoutBasis, side: 'bids' }, maxIn(levels))).toEqual(amounts);
  world.market.builder.setLanding('with-trade');
});

test('what the pool reverts with is an error with its selector', async () => {
  const [quote] = await liveQuotes();
  if (!quote) throw new Error('there is no quote');
  const stale = {
    poolAddress: quote.poolAddress,
    basis: { ...quote.basis, kind: 'committed' as const, blockNumber: 1 },
  };
  await world.market.builder.buildBlock();
  const error = await simulateExactIn(node, { quote: { poolAddress: quote.poolAddress }, side: 'bids' }, 1n).catch(
    (it) => it,
  );
  expect(error).toBeInstanceOf(SwapRevertedError);
  expect(error).toMatchObject({
    selector: toFunctionSelector('function PriceProviderFailed(bytes)'),
    data: expect.stringMatching(/^0x[0-9a-f]{200,}$/),
  });
  // At that block nothing was deployed yet.
  await expect(simulateExactIn(node, { quote: stale, side: 'bids' }, 1n)).rejects.toMatchObject({ selector: null });
});

test.each([
  ['state', (params: unknown[]) => params.slice(0, 2)],
  ['block', (params: unknown[]) => params.slice(0, 3)],
])('a node that ignores the overrides of the %s is noticed', async (_, applied) => {
  const [quote] = await liveQuotes();
  if (!quote) throw new Error('there is no quote');
  const lenient: Eip1193Provider = {
    request: ({ method, params }) => node.request({ method, params: applied(params as unknown[]) }),
  };
  const simulated = simulateExactIn(lenient, { quote, side: 'asks' }, 1_000n);
  await expect(simulated).rejects.toBeInstanceOf(OverridesIgnoredError);
});

test('a live quote without overrides, and an amount that no swap takes, are rejected', async () => {
  const [quote] = await liveQuotes();
  if (!quote) throw new Error('there is no quote');
  const { overrides: _, ...withoutOverrides } = quote;
  await expect(simulateExactIn(node, { quote: withoutOverrides, side: 'bids' }, 1n)).rejects.toThrow('include');
  for (const amount of [0n, -1n, 2n ** 127n]) {
    expect(() => simulateExactIn(node, { quote, side: 'bids' }, amount)).toThrow(RangeError);
    expect(() => simulateExactOut(node, { quote, side: 'bids' }, amount)).toThrow(RangeError);
  }
});

test('the example prints the quote of the API and what the node gives', async () => {
  const [quote] = await liveQuotes();
  const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;
  const server = serve({ fetch: ({ url }) => world.api.raw(pathOf(new URL(url))), port: 0 });
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const parent = await mkdtemp(join(tmpdir(), 'client-simulate-'));
  try {
    const client = await installClient(parent);
    await linkPackages(client.folder, ['viem']);
    const source = await readFile(join(PROJECT_ROOT, 'client/examples/simulate-quote.ts'), 'utf8');
    const { code } = await transform(source, { loader: 'ts', format: 'esm' });
    const program = await client.write('simulate-quote.mjs', code);
    const { chainId, rpcUrl } = world.market.chain;
    const { stdout } = await execa('node', [program, origin, String(chainId), rpcUrl, quote?.poolAddress ?? '']);
    const [, quoted = '', simulated = ''] = /^live: quoted (\d+), simulated (\d+)$/.exec(stdout) ?? [];
    const levels = quote?.depth?.bids ?? [];
    expect(quoted, stdout).toBe(String(quoteExactIn(levels, maxIn(levels) / 2n).amountOutFloor));
    expect(BigInt(simulated)).toBeGreaterThanOrEqual(BigInt(quoted));
  } finally {
    server.close();
    await rm(parent, { recursive: true, force: true });
  }
});
