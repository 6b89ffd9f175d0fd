import { concatHex, type Hex, numberToHex, size } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { administer, sellAndBuyPrices } from '../../devnet/actions.ts';
import { setQuote } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { pricePool } from '../../protocol/layouts/ladder.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createTestPools, type PackedTestPool, startPackedChain } from '../packed/packed-chain.ts';
import { bringAbout, ordinary, quotingCode } from '../packed/packed-states.ts';
import {
  createVariants,
  lastMethod,
  levelsOffCurve,
  mineAndSee,
  packedApi,
  type VariantPools,
} from './packed-world.ts';
import { eagerQuotes } from './quote-world.ts';
import { withProxies } from './with-proxies.ts';

const packedChain = startedWorld(startPackedChain);
let variants: readonly VariantPools[];

beforeAll(async () => {
  variants = await createVariants(packedChain);
});

function pool(rule: string, index = 0): PackedTestPool {
  const found = variants.find(({ variant }) => variant.rule === rule)?.pools[index];
  if (!found) throw new Error(`no pool of the rule ${rule}`);
  return found;
}

describe('a formula counts no longer', () => {
  const codeOf = async ({ address }: Pick<PackedTestPool, 'address'>): Promise<Hex> => {
    const code = await packedChain.chain.client.getCode({ address });
    if (!code) throw new Error(`no code at ${address}`);
    return code;
  };

  /** Verifies the formula of a pool, puts other code somewhere, and quotes the pool again. */
  async function afterChange(own: PackedTestPool, change: (code: Hex) => Promise<void>) {
    const api = await packedApi(packedChain, [own]);
    const priced = ordinary(own);
    await bringAbout(packedChain, own, priced);
    await api.quote(own.address);
    expect(lastMethod(api, own.address)).toBe('formula');
    const code = await codeOf(own);
    await change(code);
    await mineAndSee(packedChain, api, own);
    const { depth, bidAdj, askAdj } = await api.quote(own.address);
    const prices = await sellAndBuyPrices(packedChain.chain, own.address);
    expect({ sellX64: BigInt(bidAdj), buyX64: BigInt(askAdj) }).toEqual(prices);
    return { api, code, priced, depth: depth ?? { bids: [], asks: [] } };
  }

  const setCode = (address: PackedTestPool['address'], bytecode: Hex) =>
    packedChain.chain.client.setCode({ address, bytecode });

  test.each([
    ['sumOnEdges', 'productOnEdges', 'formula'],
    ['productOnEdges', 'quotient', 'fit'],
  ] as const)('when a pool of the rule %s gets the code of one of %s', async (rule, other, method) => {
    const own = pool(rule);
    const otherCode = await codeOf(pool(other));
    const { api, code, priced, depth } = await afterChange(own, () => setCode(own.address, otherCode));
    expect(api.reports.at(-1)).toMatchObject({ pool: own.address, method, dropped: 'code' });
    expect(await levelsOffCurve(packedChain, own, priced, depth)).toEqual([]);
    expect(depth.bids.length + depth.asks.length).toBeGreaterThan(6);
    await setCode(own.address, code);
  });

  test('when a pool becomes a proxy, however its target changes', async () => {
    const [own, target] = [pool('sumOnPrice', 1), `0x${'7a'.repeat(20)}` as const];
    const proxy = concatHex(['0x363d3d373d3d3d363d73', target, '0x5af43d82803e903d91602b57fd5bf3']);
    const { api, code, priced, depth } = await afterChange(own, async (ownCode) => {
      await setCode(target, ownCode);
      await setCode(own.address, proxy);
    });
    expect(api.reports.at(-1)).toMatchObject({ method: 'fit', dropped: 'code' });
    expect(await levelsOffCurve(packedChain, own, priced, depth)).toEqual([]);
    await setCode(target, await codeOf(pool('productOnPrice', 1)));
    await mineAndSee(packedChain, api, own);
    const later = (await api.quote(own.address)).depth;
    expect(lastMethod(api, own.address)).toBe('fit');
    expect(later).not.toEqual(depth);
    expect(await levelsOffCurve(packedChain, own, priced, later ?? depth)).toEqual([]);
    await setCode(own.address, code);
  });

  test('when the code of its provider changes', async () => {
    const own = pool('older', 2);
    const changed = concatHex([await codeOf({ address: own.provider }), '0x00']);
    const { api } = await afterChange(own, () => setCode(own.provider, changed));
    expect(api.reports.at(-1)).toMatchObject({ method: 'formula', dropped: 'code' });
  });

  test('when a pool begins to charge a notional fee, which it may take in another way', async () => {
    const [own] = await createTestPools(packedChain, packedVariant('offOutput'), [[2, 8]]);
    if (!own) throw new Error('no pool');
    const priced = ordinary(own);
    const free = pricePool({ ...priced.state, notionalFeeE8: 0 }, priced.quote);
    const api = await packedApi(packedChain, [own]);
    await bringAbout(packedChain, own, free);
    await api.quote(own.address);
    expect(lastMethod(api, own.address)).toBe('formula');
    await bringAbout(packedChain, own, priced);
    await mineAndSee(packedChain, api, own);
    const { depth } = await api.quote(own.address);
    expect(depth?.bids.length).toBeGreaterThan(0);
    expect(api.reports.at(-1)).toMatchObject({ method: 'simulation', dropped: 'ambiguous' });
  });
});

test('what a proof was given is logged once when a pool is fitted no longer', async () => {
  const own = pool('quotient', 2);
  const code = await packedChain.chain.client.getCode({ address: own.address });
  const growing = await packedChain.chain.client.getCode({ address: pool('growing', 2).address });
  const logged: { fields: Record<string, string>; message: string }[] = [];
  const warn = (fields: Record<string, string>, message: string) => logged.push({ fields, message });
  const logger = { warn, info: () => undefined, child: () => logger } as unknown as Logger;
  const api = await packedApi(packedChain, [own], eagerQuotes, packedChain.chain.rpcUrl, logger);
  await bringAbout(packedChain, own, ordinary(own));
  const methods = [];
  for (const bytecode of [code, code, growing, growing, code]) {
    await packedChain.chain.client.setCode({ address: own.address, bytecode: bytecode ?? '0x' });
    await mineAndSee(packedChain, api, own);
    await api.quote(own.address);
    methods.push(lastMethod(api, own.address));
  }
  expect(methods).toEqual(['fit', 'fit', 'simulation', 'simulation', 'fit']);
  const proofs = logged.filter(({ message }) => message.startsWith('what proved'));
  expect(proofs).toMatchObject([{ fields: { pool: own.address } }]);
  const { priced, probes, results } = JSON.parse(proofs[0]?.fields.inputs ?? '{}');
  expect(priced.state.bins).toHaveLength(7);
  expect(results).toHaveLength(probes.length);
});

test.each([
  ['quotient', 'holds something'],
  ['quotient', 'is empty'],
  ['growing', 'holds something'],
  ['growing', 'is empty'],
  ['sumOnPrice', 'is empty'],
])(
  'a provider that tells us another quote than its pool gives no depth: %s, the bin at the cursor %s',
  async (rule, cursor) => {
    const own = pool(rule, 1);
    const { state, quote } = ordinary(own);
    const bins = state.bins.map((bin, index) => {
      const isEmpty = cursor === 'is empty' && index === state.cursor.bin - state.lowestBin;
      return isEmpty ? { ...bin, token0Scaled: 0n, token1Scaled: 0n } : bin;
    });
    const priced = pricePool({ ...state, bins }, quote);
    const higher = (x64: bigint) => (x64 * 101n) / 100n;
    const { bidX64, askX64, referenceX64 } = priced.quote;
    const raised = { bidX64: higher(bidX64), askX64: higher(askX64), referenceX64: higher(referenceX64) };
    const api = await packedApi(packedChain, [own]);
    await bringAbout(packedChain, own, priced);
    expect(await api.results([own.address])).toMatchObject([{ quote: { priceProviderStatus: 'healthy' } }]);
    const honest = await packedChain.chain.client.getCode({ address: own.provider });
    const [pooled, lie] = [priced.quote, raised].map((quote) => quotingCode(own, { ...priced, quote }));
    // The code of a pool is longer than what stands in for it: CALLER EXTCODESIZE < 1000 jumps behind the first quote.
    const jump = numberToHex(9 + size(pooled ?? '0x'), { size: 1 });
    const lying = concatHex(['0x6103e8333b10', '0x60', jump, '0x57', pooled ?? '0x', '0x5b', lie ?? '0x']);
    await packedChain.chain.client.setCode({ address: own.provider, bytecode: lying });
    await mineAndSee(packedChain, api, own);
    const { bidAdj, askAdj } = await api.quote(own.address, false);
    const prices = await sellAndBuyPrices(packedChain.chain, own.address);
    expect({ sellX64: BigInt(bidAdj), buyX64: BigInt(askAdj) }).toEqual(prices);
    expect(await api.results([own.address])).toMatchObject([{ error: { status: 503 } }]);
    if (honest) await packedChain.chain.client.setCode({ address: own.provider, bytecode: honest });
  },
);

test('where nodes apply no state overrides, providers that answer address 0 are asked themselves', async () => {
  const [open, closed] = [pool('sumOnEdges', 2), pool('productOnPrice', 2)];
  const priced = ordinary(open);
  for (const own of [open, closed]) await bringAbout(packedChain, own, ordinary(own));
  await packedChain.chain.client.setCode({ address: open.provider, bytecode: quotingCode(open, priced) });
  await packedChain.chain.client.mine({ blocks: 1 });
  await withProxies(packedChain.chain.rpcUrl, async (node) => {
    node.misbehave({ kind: 'noOverrides', how: 'refuse' });
    const api = await packedApi(packedChain, [open, closed], eagerQuotes, node.url);
    const { depth } = await api.quote(open.address);
    expect(lastMethod(api, open.address)).toBe('formula');
    expect(await levelsOffCurve(packedChain, open, priced, depth ?? { bids: [], asks: [] })).toEqual([]);
    expect(depth?.bids.length).toBeGreaterThan(0);
    expect(await api.results([closed.address])).toMatchObject([{ error: { status: 503 } }]);
    expect((await api.quote(closed.address, false)).priceProviderStatus).toBe('healthy');
  });
});

test('statuses are those of the flat layout', async () => {
  const first = pool('older');
  const api = await packedApi(packedChain, [first]);
  const { chain } = packedChain;
  const good = ordinary(first).quote;
  const statusWith = async (quote: typeof good) => {
    await setQuote(chain, first.provider, quote);
    await mineAndSee(packedChain, api, first);
    return (await api.quote(first.address)).priceProviderStatus;
  };
  await bringAbout(packedChain, first, ordinary(first));
  expect(await statusWith(good)).toBe('healthy');
  expect(await statusWith({ ...good, referenceX64: 0n })).toBe('feed_down');
  expect(await statusWith({ ...good, bidX64: 0n })).toBe('pool_refused');
  expect(await statusWith({ ...good, bidX64: good.askX64 + 1n })).toBe('pool_refused');
  expect(await statusWith({ ...good, referenceX64: good.askX64 + 1n })).toBe('pool_refused');
  expect(await statusWith({ bidX64: good.askX64, askX64: good.askX64, referenceX64: good.askX64 })).toBe('healthy');
  await administer(chain, first.deployment, {
    from: chain.roles.curator,
    functionName: 'pausePool',
    args: [first.address],
  });
  await mineAndSee(packedChain, api, first);
  expect((await api.quote(first.address)).priceProviderStatus).toBe('pool_paused');
});
