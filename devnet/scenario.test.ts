import { decodeErrorResult, encodeFunctionData, type Hex, numberToHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseChainsFile } from '../config/load-chains.ts';
import { MAX_POSITION } from '../protocol/pool-state.ts';
import { extsload, sellAndBuyPrices, simulateSwap } from './actions.ts';
import { errors, named } from './anchored-market.fixture.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { buildChainsFile } from './chains-config.ts';
import { connectDevChain, type DevChain, setBlockTime, staticCall } from './dev-chain.ts';
import { request } from './json-rpc.ts';
import { packedVariant } from './packed/variants.ts';
import { factoryAbi, stopLossAbi } from './protocol-abi.ts';
import type { ScenarioPool } from './scenario/plan.ts';
import { runScenario, type Scenario } from './scenario.ts';
import { createTraffic } from './traffic.ts';

const CHAIN_IDS = [31_337, 31_338] as const;
const WHOLE = 10n ** 18n;

let nodes: Anvil[];
let scenarios: Scenario[];
let chain: DevChain;
let scenario: Scenario;

beforeAll(async () => {
  nodes = await Promise.all(CHAIN_IDS.map((chainId) => startAnvil({ chainId })));
  scenarios = await Promise.all(
    nodes.map(({ url }, index) =>
      runScenario({ rpcUrl: url, chainId: CHAIN_IDS[index] ?? 0, packed: packedVariant('sumOnEdges') }),
    ),
  );
  const [node, first] = [nodes[0], scenarios[0]];
  if (node === undefined || first === undefined) throw new Error('no chain');
  scenario = first;
  chain = await connectDevChain(node.url);
});

afterAll(() => Promise.all(nodes.map((node) => node.stop())));

function pool(name: string): ScenarioPool {
  const found = scenario.pools.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`the scenario has no pool ${name}`);
  return found;
}

async function head(name: string) {
  const [word = '0x0'] = await extsload(chain, pool(name).address, [numberToHex(0, { size: 32 })]);
  const value = BigInt(word);
  return { pause: value & 0xffn, bin: BigInt.asIntN(8, value >> 8n), position: (value >> 16n) & MAX_POSITION };
}

/** What a pool says to a swap of some whole tokens at the mid of the prices that it shows. */
async function answer(name: string, zeroForOne: boolean, wholeTokens = 1n, rejectedPrices = 3_900n): Promise<string> {
  const { address } = pool(name);
  const prices = await sellAndBuyPrices(chain, address);
  const [bidX64, askX64] =
    'refusal' in prices ? [rejectedPrices << 64n, (rejectedPrices + 1n) << 64n] : [prices.sellX64, prices.buyX64];
  const amountSpecified = zeroForOne ? wholeTokens * WHOLE : -wholeTokens * WHOLE;
  return named(await simulateSwap(chain, { pool: address, zeroForOne, amountSpecified, bidX64, askX64 })).name;
}

async function priceRefusal(name: string): Promise<string> {
  const prices = await sellAndBuyPrices(chain, pool(name).address);
  return 'refusal' in prices ? decodeErrorResult({ abi: errors, data: prices.refusal }).errorName : 'none';
}

async function factoryRead(functionName: 'poolAdmin' | 'pendingPriceProvider', name: string): Promise<bigint> {
  const data: Hex = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool(name).address] });
  return BigInt((await staticCall(chain, { to: scenario.deployment.poolFactory, data })).data);
}

describe('the scenario', () => {
  test('has the same pools at the same addresses on both chains', () => {
    const [first, second] = scenarios;
    expect(first?.pools).toEqual(second?.pools);
    expect(new Set(first?.pools.map(({ name }) => name)).size).toBe(first?.pools.length);
    expect(first?.pools.length).toBeGreaterThanOrEqual(14);
    expect(JSON.parse(JSON.stringify(scenarios))).toEqual(scenarios);
  });

  test('shows decimals in both orders', () => {
    const decimals = new Map(scenario.tokens.map((token) => [token.address, token.decimals]));
    const pairs = scenario.pools.map(({ token0, token1 }) => `${decimals.get(token0)}/${decimals.get(token1)}`);
    for (const pair of ['18/6', '6/18', '8/6', '6/8', '18/8', '8/18', '6/6', '18/18']) expect(pairs).toContain(pair);
  });

  test('makes a valid chains file', () => {
    const chains = scenarios.map((each, index) => ({
      chainId: each.chainId,
      name: `devnet-${index}`,
      kind: 'ethereum' as const,
      scenario: each,
      url: nodes[index]?.url ?? '',
    }));
    const builder = { id: 'one', transport: 'quote-stream', url: 'ws://127.0.0.1:1' } as const;
    const file = parseChainsFile(buildChainsFile(chains, { builders: { ethereum: [builder], bsc: [] } }), 'devnet', {});
    expect(file.chains.map(({ chainId }) => chainId)).toEqual(CHAIN_IDS);
    expect(file.chains[0]?.deployments[0]?.poolFactory).toBe(scenario.deployment.poolFactory);
    expect(file.tokens.filter(({ multiplierOracle }) => multiplierOracle !== undefined)).toHaveLength(2);
    expect(Object.keys(file.fiatPrices.prices).length).toBeGreaterThan(0);
  });

  test('puts cursors where it says', async () => {
    const middle = await head('exemplary');
    expect(middle.position > MAX_POSITION / 4n && middle.position < (3n * MAX_POSITION) / 4n).toBe(true);
    expect(await head('cursor-at-edge')).toMatchObject({ bin: 1n, position: 0n });
    const last = pool('cursor-at-last-bin').highestBin;
    expect(await head('cursor-at-last-bin')).toMatchObject({ bin: BigInt(last), position: MAX_POSITION });
  });

  test('has pools that trade, on both sides', async () => {
    for (const name of ['exemplary', 'stop-loss-cuts', 'unvouched-feed', 'pending-provider', 'transferred-admin']) {
      expect([name, await answer(name, false, 1n)]).toEqual([name, 'SimulateSwap']);
      // A sale of a ten-thousandth of a token is small enough for the stop loss that cuts.
      const order = { pool: pool(name).address, zeroForOne: true, amountSpecified: WHOLE / 10_000n };
      const quote = { bidX64: 3_499n << 64n, askX64: 3_501n << 64n };
      expect([name, named(await simulateSwap(chain, { ...order, ...quote })).name]).toEqual([name, 'SimulateSwap']);
    }
  });

  test('has guards that refuse', async () => {
    expect(await answer('stop-loss-cuts', true, 2n)).toBe('OracleStopLossTriggered');
    expect(await answer('stop-loss-closes-side', true, 1n)).toBe('OracleStopLossTriggered');
    expect(await answer('stop-loss-closes-side', false, 1n)).toBe('SimulateSwap');
    expect(await answer('velocity-guard', true)).toBe('PriceVelocityExceeded');
    expect(await answer('velocity-guard', false)).toBe('PriceVelocityExceeded');
    expect(await answer('swap-allowlist', false)).toBe('NotAllowedToSwap');
  });

  test('has providers that fail, pauses, and pending changes', async () => {
    expect(await priceRefusal('feed-down')).toBe('PriceProviderFailed');
    expect(await priceRefusal('crossed-quote')).toBe('BidGreaterThanAsk');
    expect(await head('paused')).toMatchObject({ pause: 1n });
    expect(await head('paused-by-protocol')).toMatchObject({ pause: 2n });
    expect(await factoryRead('pendingPriceProvider', 'pending-provider')).not.toBe(0n);
    expect(await factoryRead('poolAdmin', 'transferred-admin')).toBe(BigInt(chain.roles.otherCurator));
    const config = encodeFunctionData({
      abi: stopLossAbi,
      functionName: 'oracleStopLossConfig',
      args: [pool('deposit-allowlist').address],
    });
    const { data } = await staticCall(chain, { to: scenario.deployment.stopLoss, data: config });
    expect(BigInt(data)).toBe(0n);
  });
});

describe('traffic', () => {
  /** Both chains have the scenario again after each. */
  beforeEach(async () => {
    const snapshots = await Promise.all(nodes.map(({ url }) => request(url, 'evm_snapshot', [])));
    return () => Promise.all(nodes.map(({ url }, index) => request(url, 'evm_revert', [snapshots[index]])));
  });

  test('of one seed does the same on two chains, and mostly succeeds', async () => {
    const traffics = await Promise.all(
      scenarios.map((each, index) => createTraffic({ rpcUrl: nodes[index]?.url ?? '', scenario: each, seed: 3 })),
    );
    const kinds = await Promise.all(
      traffics.map(async (traffic) => {
        const done = [];
        for (let step = 0; step < 150; step++) done.push(await traffic.step());
        return done;
      }),
    );
    expect(kinds[0]).toEqual(kinds[1]);
    expect(traffics[0]?.counts()).toEqual(traffics[1]?.counts());
    expect(new Set(kinds[0])).toEqual(new Set(['swap', 'add', 'remove', 'feed', 'collect', 'administer']));
    const { done, rejected, open } = traffics[0]?.counts() ?? { done: 0, rejected: 1, open: 1 };
    expect(open).toBe(0);
    expect(done).toBeGreaterThan(10 * rejected);
    const heads = await Promise.all(
      nodes.map(async ({ url }) => {
        const each = await connectDevChain(url);
        return Promise.all(
          scenario.pools.map(({ address }) => extsload(each, address, [numberToHex(0, { size: 32 })])),
        );
      }),
    );
    expect(heads[0]).toEqual(heads[1]);
  });

  test('does not wait for blocks, and settles', async () => {
    await setBlockTime(chain, 1);
    const traffic = await createTraffic({ rpcUrl: chain.rpcUrl, scenario, seed: 4 });
    for (let step = 0; step < 15; step++) await traffic.step();
    await traffic.settle();
    expect(traffic.counts()).toMatchObject({ open: 0 });
    expect(traffic.counts().done).toBeGreaterThan(0);
    await setBlockTime(chain, 0);
  });
});
