import { type Address, encodeFunctionData, maxUint256 } from 'viem';
import { describe, expect, test, vi } from 'vitest';
import { createTransferProbe } from '../../capture/price-health/probe-transfers.ts';
import { CAPTURE_CLASSES, type KnownPool } from '../../capture/read-schedule/pool-values.ts';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { fundAccounts } from '../../devnet/actions.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { send } from '../../devnet/dev-chain.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { readMoved, transferCall, transferCode } from '../../protocol/transfers/transfer-proof.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import { openWorld } from '../harness/open-world.ts';
import { PROPERTY_SEED } from '../harness/property-seed.ts';
import { amountsOf, tradingLevels } from './chain-curve.ts';
import { executesAtBlock } from './execute-on-snapshot.ts';
import { apiOf, type QuoteApi } from './quote-api.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  type Pair,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from './quote-world.ts';
import { servedPool } from './served-pool.ts';

/** In the order of `Way` in RestrictedToken.sol. */
const WAYS = [
  'Free',
  'Paused',
  'Blocked',
  'NotToPool',
  'NotFromPool',
  'Taxed',
  'Limited',
  'Refusing',
  'BurnsGas',
  'HugeAnswer',
] as const;
type Way = (typeof WAYS)[number];

/** Sides that are offered. What the pool cannot send cannot be sent back to it: that it would arrive is not known. */
const OPEN: Readonly<Record<Way, { readonly bids: boolean; readonly asks: boolean }>> = {
  Free: { bids: true, asks: true },
  Limited: { bids: true, asks: true },
  NotToPool: { bids: false, asks: true },
  NotFromPool: { bids: false, asks: false },
  Paused: { bids: false, asks: false },
  Blocked: { bids: false, asks: false },
  Taxed: { bids: false, asks: false },
  Refusing: { bids: false, asks: false },
  BurnsGas: { bids: false, asks: false },
  HugeAnswer: { bids: false, asks: false },
};
/** Pools give what arrives only in part, and take what they cannot give back. */
const TAKEN_BY_THE_CHAIN: readonly Way[] = ['Taxed', 'NotFromPool'];
const ONE = 10n ** 18n;
const CLOSED_ASK = ((1n << 128n) - 1n).toString();
const AMOUNTS_PER_SIDE = 130;
const BLOCKS_BETWEEN_PROOFS = 10;
/** Calls for all pools at once. */
const AMPLE = 10_000;
const SEEN = { interval: 5 };

let world: QuoteWorld;
let pair: Pair;
let token: Address;
let pool: WorldPool;
let executed = 0;

const { abi } = loadArtifact('RestrictedToken');
const callToken = (functionName: string, args: readonly unknown[]) =>
  send(world.chain, {
    from: world.chain.roles.trader,
    to: token,
    data: encodeFunctionData({ abi, functionName, args }),
  });
const turn = (way: Way, limit = 0n) => callToken('turn', [WAYS.indexOf(way), pool.address, limit]);

/** token0 or token1 of the pair is restricted, the other one is free. */
async function setUp(ends: AsyncDisposableStack, isToken0: boolean): Promise<void> {
  world = ends.adopt(await startQuoteWorld(), ({ stop }) => stop());
  const other = await world.pair(18, 6);
  for (;;) {
    token = await deployContract(world.chain, 'RestrictedToken', [18]);
    const free = isToken0 ? other.token1 : other.token0;
    if (token.toLowerCase() < free.toLowerCase() === isToken0) break;
  }
  const accounts = [world.chain.roles.provider, world.chain.roles.trader];
  await fundAccounts(world.chain, world.deployment, token, { accounts, amount: 10n ** 15n * ONE });
  pair = isToken0
    ? { token0: token, token1: other.token1, decimals0: 18, decimals1: 6 }
    : { token0: other.token0, token1: token, decimals0: 18, decimals1: 18 };
  pool = await makePool(world, {
    pair,
    price: 2_000,
    shares: evenShares(-3, 3, 10n * SHARES_OF_ONE),
    notionalFeeE8: 3_000,
  });
}

const openApi = () => apiOf(world, [pool.address], { blockTimeMs: 1 });

/** Sides that the listing takes for closed. */
async function listedAsClosed(): Promise<ClosedSides> {
  const { address, token0, token1 } = await servedPool(world.chain, world.deployment, pool.address);
  const rpc = openChainRpc(chainConfig(31337, [world.anvil.url]), 10_000);
  const known = { address, token0: token0.address, token1: token1.address, isFunded: true } as KnownPool;
  const now = () => performance.now();
  const budget = new CallBudget(AMPLE, CAPTURE_CLASSES, now);
  const rpcs = { funded: rpc, remaining: rpc };
  const probe = createTransferProbe({ chainId: 31337, now, budget, rpcs, pools: async () => [known] });
  expect(await probe.run('funded')).toBe(1);
  return probe.closed.get(address) ?? { bids: false, asks: false };
}

/** Waits until the service shows the newest block. */
async function quoteNow(api: QuoteApi) {
  const number = Number(await world.chain.client.getBlockNumber());
  const path = `/public/v1/evm/31337/${pool.address}/bid_ask`;
  await vi.waitFor(async () => {
    const { headers } = await api.request(`${path}?depth=false`);
    expect(Number(headers.get('X-Block-Number'))).toBeGreaterThanOrEqual(number);
  }, SEEN);
  return api.quote(pool.address);
}

/** Fails for an offered amount that the chain refuses, and for a closed side that trades. */
async function expectTrue(quote: Awaited<ReturnType<typeof quoteNow>>, way: Way, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const sides = [
    { zeroForOne: true, isClosed: quote.bidAdj === '0', levels: tradingLevels(quote.depth?.bids ?? []) },
    { zeroForOne: false, isClosed: quote.askAdj === CLOSED_ASK, levels: tradingLevels(quote.depth?.asks ?? []) },
  ];
  for (const { zeroForOne, isClosed, levels } of sides) {
    const trades = (amountSpecified: bigint) =>
      executesAtBlock(world, { pool: pool.address, zeroForOne, amountSpecified });
    if (isClosed && !TAKEN_BY_THE_CHAIN.includes(way))
      expect(await trades(zeroForOne ? ONE / 100n : 10n ** 6n), 'a closed side trades').toBe(false);
    const end = levels.at(-1);
    if (!end) continue;
    const { input, output } = amountsOf(end);
    const draws = Array.from({ length: AMOUNTS_PER_SIDE }, (_, drawn) => {
      const part = drawn === 0 ? 1_000_000 : random.integer(1, 1_000_000);
      const isInput = random.integer(0, 1) === 0;
      const amount = ((isInput ? input : output) * BigInt(part)) / 1_000_000n;
      return { part, isInput, amount };
    }).filter(({ amount }) => amount > 0n);
    executed += draws.length;
    const done = await Promise.all(draws.map(({ isInput, amount }) => trades(isInput ? amount : -amount)));
    expect(
      draws.filter((_, index) => !done[index]),
      `refused, of ${zeroForOne}`,
    ).toEqual([]);
  }
}

describe.each([true, false])('where token0 is the restricted one: %s', (isToken0) => {
  openWorld(async (ends) => {
    await setUp(ends, isToken0);
    return {};
  });

  /** As for token0, with sides exchanged for token1. */
  const openSides = (way: Way) => {
    const { bids, asks } = OPEN[way];
    return isToken0 ? { bids, asks } : { bids: asks, asks: bids };
  };

  test.each(WAYS)('%s: sides are open as the chain has them, and every offered amount trades', async (way) => {
    const whole = await quoteNow(await openApi());
    await turn(way, 13n * ONE + 7n);
    for (const blocks of [0, BLOCKS_BETWEEN_PROOFS]) {
      if (blocks > 0) await world.chain.client.mine({ blocks });
      const api = await openApi();
      const quote = await quoteNow(api);
      const { bids, asks } = openSides(way);
      expect([quote.bidAdj !== '0', quote.askAdj !== CLOSED_ASK]).toEqual([bids, asks]);
      expect(quote.priceProviderStatus).toBe(bids || asks ? 'healthy' : 'pool_refused');
      const plain = await api.quote(pool.address, false);
      expect({ ...plain, depth: null, serverTs: 0 }).toEqual({ ...quote, depth: null, serverTs: 0 });
      expect(await listedAsClosed()).toEqual({ bids: !bids, asks: !asks });
      if (way === 'Free') expect(quote.depth).toEqual(whole.depth);
      if (way === 'Limited') {
        const moved = [tradingLevels(quote.depth?.asks ?? []), tradingLevels(quote.depth?.bids ?? [])].map((levels) =>
          levels.at(-1),
        );
        const [ofAsks, ofBids] = moved.map((level) => level && amountsOf(level));
        const most = isToken0 ? [ofAsks?.output, ofBids?.input] : [ofAsks?.input, ofBids?.output];
        for (const amount of most) {
          expect(amount).toBeLessThanOrEqual(13n * ONE + 7n);
          expect(amount).toBeGreaterThan(13n * ONE - ONE / 100n);
        }
      }
      await expectTrue(quote, way, PROPERTY_SEED + blocks);
    }
    await turn('Free');
  });

  test.each(WAYS)('%s: takes at most the gas of its own, and nothing of what another token shows', async (way) => {
    await turn(way, 13n * ONE);
    const calls = [pair.token0, pair.token1].map((each) => transferCall(pool.address, each, maxUint256));
    const rpc = openChainRpc(chainConfig(31337, [world.anvil.url]), 10_000);
    const code = transferCode([pool.address]);
    const { results } = await boundedCallsOnce({ rpc, chainId: 31337 }, { block: 'latest', code }, calls);
    const [restricted, free] = isToken0 ? results : [results[1], results[0]];
    const moved = readMoved(free as CallResult, maxUint256);
    expect([moved.sent, moved.received]).toEqual([moved.amount, moved.amount]);
    expect(free?.gasUsed).toBeLessThanOrEqual(calls[0]?.likelyGas ?? 0);
    expect(restricted?.gasUsed).toBeLessThanOrEqual(calls[0]?.gasLimit ?? 0);
    await turn('Free');
  });

  test('a balance that the token took is no depth, until it is there again', async () => {
    const api = await openApi();
    const whole = await quoteNow(api);
    const balance = BigInt((isToken0 ? whole.totalToken0Available : whole.totalToken1Available) ?? '0');
    await callToken('seize', [pool.address, (balance * 9n) / 10n]);
    const left = balance - (balance * 9n) / 10n;
    const quote = await quoteNow(api);
    const side = isToken0 ? quote.depth?.asks : quote.depth?.bids;
    const end = side?.at(-1);
    expect(quote.priceProviderStatus).toBe('healthy');
    expect(end && amountsOf(end).output).toBeLessThanOrEqual(left);
    expect(end && amountsOf(end).output).toBeGreaterThan(left - left / 1_000_000n);
    await expectTrue(quote, 'Free', PROPERTY_SEED);
    await callToken('seize', [pool.address, left]);
    const empty = await quoteNow(api);
    expect([empty.bidAdj === '0', empty.askAdj === CLOSED_ASK]).toEqual([!isToken0, isToken0]);
    await callToken('mint', [pool.address, balance]);
    expect((await quoteNow(api)).depth).toEqual(whole.depth);
  });

  test('tokens that moved are tried again when the balance or the code changes, else at every tenth block', async () => {
    const api = await openApi();
    const { client, roles } = world.chain;
    const callsAfter = async (change: () => Promise<unknown>) => {
      await change();
      const before = api.calls.length;
      await quoteNow(api);
      return api.calls.slice(before).filter((call) => call.startsWith('eth_call')).length;
    };
    const mine = (blocks: number) => client.mine({ blocks });
    const toTenth = async () => BLOCKS_BETWEEN_PROOFS - (Number(await client.getBlockNumber()) % BLOCKS_BETWEEN_PROOFS);
    const [tried, spared] = [3, 2];
    expect(await callsAfter(async () => mine(await toTenth()))).toBe(tried);
    expect(await callsAfter(() => mine(1))).toBe(spared);
    expect(await callsAfter(() => callToken('mint', [roles.trader, ONE]))).toBe(spared);
    expect(await callsAfter(() => callToken('mint', [pool.address, ONE]))).toBe(tried);
    expect(await callsAfter(() => mine(1))).toBe(spared);
    const code = (await client.getCode({ address: token })) ?? '0x';
    await client.setCode({ address: token, bytecode: `${code}00` });
    expect(await callsAfter(() => mine(1))).toBe(tried);
    expect(await callsAfter(() => mine(1))).toBe(spared);
    await turn('Paused');
    expect((await quoteNow(api)).priceProviderStatus).toBe('healthy');
    // One block at a time, so that no head in between is read on a slow machine.
    for (let left = await toTenth(); left > 1; left--) expect(await callsAfter(() => mine(1))).toBe(spared);
    expect(await callsAfter(() => mine(1))).toBe(tried);
    expect((await quoteNow(api)).priceProviderStatus).toBe('pool_refused');
    // What does not move is tried at every block.
    expect(await callsAfter(() => turn('Free'))).toBe(tried);
    expect((await quoteNow(api)).priceProviderStatus).toBe('healthy');
  });

  test('a token that changes by itself is seen at every tenth block', async () => {
    const api = await openApi();
    await callToken('turnEvery', [BigInt(BLOCKS_BETWEEN_PROOFS), pool.address, 5n * ONE]);
    const seen = new Set<string>();
    for (let step = 0; step < WAYS.length; step += 1) {
      const number = Number(await world.chain.client.getBlockNumber());
      await world.chain.client.mine({ blocks: BLOCKS_BETWEEN_PROOFS - (number % BLOCKS_BETWEEN_PROOFS) });
      const quote = await quoteNow(api);
      const block = Number(await world.chain.client.getBlockNumber());
      const way = WAYS[Math.floor(block / BLOCKS_BETWEEN_PROOFS) % WAYS.length] as Way;
      const { bids, asks } = openSides(way);
      expect([way, quote.bidAdj !== '0', quote.askAdj !== CLOSED_ASK]).toEqual([way, bids, asks]);
      seen.add(way);
      await expectTrue(quote, way, PROPERTY_SEED + step);
    }
    expect(seen.size).toBe(WAYS.length);
    await turn('Free');
  });
});

test('executed enough amounts', () => expect(executed).toBeGreaterThan(3_000));
