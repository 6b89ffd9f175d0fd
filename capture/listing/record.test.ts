import { describe, expect, test } from 'vitest';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { PoolRecord } from '../../db/listing/pool-record.ts';
import { showPool } from '../../db/listing/show-pool.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import { parseJson } from '../../runtime/json.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { NO_TOTALS } from '../../test/metadata/no-totals.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import type { ExtensionRow } from './extensions.ts';
import type { PoolFacts, ProviderRow } from './pool-facts.ts';
import { PRICE_AGE } from './price-age.ts';
import { listPool } from './record.ts';

const [FULL, BARE, OFF] = [seedAddress(0xf1), seedAddress(0xf2), seedAddress(0xf3)];
const [WETH, ODD] = [seedAddress(0x70), seedAddress(0x71)];
const [STOP_LOSS, GUARD, ALLOWLIST, CUSTOM, SWAP_ALLOWLIST] = [
  seedAddress(0x51),
  seedAddress(0x52),
  seedAddress(0x53),
  seedAddress(0x54),
  seedAddress(0x55),
] as const;
const CHAIN = 31337;

const common = { layout: 'flat', fromBlock: 0 };
const registry = createRegistry(
  parseChainsFile(
    {
      chains: [
        {
          chainId: CHAIN,
          name: 'Devnet',
          rpcUrls: ['http://127.0.0.1:1'],
          blockTimeMs: 1_000,
          deployments: [
            {
              ...common,
              contractVersion: 'v1',
              poolFactory: FULL,
              poolDeployer: seedAddress(0xd1),
              liquidityAdder: seedAddress(0xd2),
              dataProvider: seedAddress(0xd3),
              quoter: seedAddress(0xd4),
              router: seedAddress(0xd5),
              depositAllowlist: ALLOWLIST,
              swapAllowlist: SWAP_ALLOWLIST,
              stopLoss: STOP_LOSS,
              priceVelocityGuard: GUARD,
            },
            { ...common, contractVersion: 'v2', poolFactory: BARE },
            { ...common, contractVersion: 'v0', poolFactory: OFF, enabled: false },
          ],
        },
      ],
      tokens: [{ chainId: CHAIN, address: WETH, logoUrl: 'https://cdn.example/weth.svg', brandColor: '#627EEA' }],
    },
    'test',
  ),
);

const shownPrice = (usd: number) => ({ usd, age: PRICE_AGE.shown });

/** A pool of which as little as possible is known. */
const BARE_FACTS: PoolFacts = {
  chainId: CHAIN,
  address: seedAddress(0x1000),
  factory: BARE,
  createdBlockNumber: 12,
  createdTimestamp: 1_790_000_000,
  tokens: [
    {
      chainId: CHAIN,
      address: WETH,
      symbol: 'WETH',
      name: 'Wrapped Ether',
      decimals: 18,
      lastPrice: shownPrice(2_000.5),
    },
    { chainId: CHAIN, address: ODD, symbol: null, name: null, decimals: null, lastPrice: null },
  ],
  creator: seedAddress(0xc1),
  admin: seedAddress(0xc2),
  adminFeeDestination: seedAddress(0xc3),
  adminUsername: null,
  adminVerified: false,
  protocolSpreadFeeE6: 1,
  adminSpreadFeeE6: 2,
  protocolNotionalFeeE8: 3,
  adminNotionalFeeE8: 4,
  priceProvider: seedAddress(0x9),
  priceProviderSinceBlock: 13,
  priceProviderTimelockSecs: 86_400n,
  pendingPriceProvider: null,
  pendingPriceProviderBlock: null,
  pendingPriceProviderExecuteAfter: null,
  provider: null,
  nextChangeAt: null,
  pauseLevel: 0,
  curBinIdx: -3,
  extensions: [],
  delisted: false,
  indexDiffers: false,
  poolIdx: 1n,
  pair: '',
  token0Symbol: null,
  token1Symbol: null,
  token0Decimals: null,
  token1Decimals: null,
  token0ScaleMultiplier: 1n,
  token1ScaleMultiplier: 10n ** 12n,
  lowestBin: -5,
  highestBin: 5,
  widestBinE6: null,
  liquidity0Raw: 0n,
  liquidity1Raw: 0n,
  storage: null,
  interpretations: {},
  week: NO_TOTALS,
  day: NO_TOTALS,
};

const ANCHORED: ProviderRow = {
  chainId: CHAIN,
  address: seedAddress(0x9),
  kind: 'anchored',
  oracle: seedAddress(0x0a),
  base: WETH,
  quote: ODD,
  marginStep: -5n,
  baseFeedId: `0x${'01'.repeat(32)}`,
  quoteFeedId: `0x${'02'.repeat(32)}`,
  minMargin: 10n ** 14n,
  maxRefStalenessSecs: 15n,
  maxSpreadBps: 100,
  mutableParams: true,
  maxTimeDeltaSecs: null,
  source: seedAddress(0x50),
  confidenceParam: 10n ** 18n,
};

const extension = (row: Partial<ExtensionRow> & Pick<ExtensionRow, 'address' | 'phases'>): ExtensionRow => ({
  drawdownE6: null,
  decayPerSecondE18: null,
  timelockSecs: null,
  maxChangePerBlockE18: null,
  allowAll: null,
  ...row,
});

const listed = (facts: Partial<PoolFacts>, tier: Parameters<typeof listPool>[1] = null) => {
  const result = listPool({ ...BARE_FACTS, ...facts }, tier, registry);
  if (result === null) throw new Error('not listed');
  return result.pool;
};

/** The record as a reader of the listing gets it, checked against the contract: no field more or less. */
const recordOf = (facts: Partial<PoolFacts>, tier: Parameters<typeof listPool>[1] = null) => {
  const [price0, price1] = (facts.tokens ?? BARE_FACTS.tokens).map(({ lastPrice }) => lastPrice?.usd ?? null);
  const prices = [price0 ?? null, price1 ?? null] as const;
  const text = showPool({ record: listed(facts, tier).record, status: 'unknown', prices, day: null });
  return PoolRecord.parse(parseJson(text));
};

describe('a pool whose events do not report its state', () => {
  const storage = { curBinIdx: 4, total0Scaled: 10n ** 18n, total1Scaled: 3n * 10n ** 18n + 5n };
  const KNOWN = { storage: 'packedHead' };
  const packedRegistry = (packed?: DeploymentConfig['packed']) => ({
    ...registry,
    deploymentOf: (chainId: number, factory: string) => {
      const deployment = registry.deploymentOf(chainId, factory);
      return deployment && { ...deployment, layout: 'packed', packed };
    },
  });
  const tokens = [
    {
      chainId: CHAIN,
      address: WETH,
      symbol: 'WETH',
      name: 'Wrapped Ether',
      decimals: 18,
      lastPrice: shownPrice(2_000),
    },
    { chainId: CHAIN, address: ODD, symbol: 'USD', name: 'Dollar', decimals: 6, lastPrice: shownPrice(1) },
  ] as const;
  const listPacked = (facts: Partial<PoolFacts>) =>
    listPool({ ...BARE_FACTS, tokens, ...facts }, null, packedRegistry());
  const packed = (facts: Partial<PoolFacts>) => {
    const pool = listPacked(facts)?.pool;
    if (pool === undefined) throw new Error('not listed');
    return { ...pool, record: JSON.parse(pool.record), analytics: JSON.parse(pool.analytics) };
  };

  test('is not listed before its storage was read, nor while it is undecided what that means, nor when nothing explains it', () => {
    expect(listPacked({})).toBeNull();
    expect(listPacked({ storage, interpretations: {} })).toBeNull();
    expect(listPacked({ storage, interpretations: { storage: null } })).toBeNull();
    expect(listPacked({ storage, interpretations: { storage: 'none' } })).toBeNull();
  });

  test('takes cursor and liquidity from storage, in raw units rounded down, and has no fees that nobody knows', () => {
    const { record, analytics, tvlFiat } = packed({ storage, interpretations: KNOWN });
    expect([record.curBinIdx, tvlFiat]).toEqual([4, 2_003]);
    expect(analytics).toMatchObject({
      feesFiat: null,
      tvlFiat: 2_003,
      aprBps: null,
      token0: { liquidityRaw: '1000000000000000000' },
      token1: { liquidityRaw: '3000000', liquidityFiat: 3 },
    });
  });

  test('has the fees that its totals make by the interpretations of its factory, those of the configuration first', () => {
    const one = 10n ** 18n;
    const totals = {
      ...NO_TOTALS,
      saleBinFeesHigh: one / 1_000n,
      saleBinFeesLow: one / 2_000n,
      purchaseBinFeesHigh: one,
      salePlatformFeesHigh: one / 2_000n,
      salePlatformFeesLow: 7n * one,
    };
    const figures = (interpretations: PoolFacts['interpretations'], override?: DeploymentConfig['packed']) => {
      const facts = {
        ...BARE_FACTS,
        tokens,
        storage,
        day: totals,
        week: totals,
        interpretations: { ...KNOWN, ...interpretations },
      };
      const pool = listPool(facts, null, packedRegistry(override))?.pool;
      const { feesFiat } = JSON.parse(pool?.analytics ?? '');
      return [feesFiat, pool?.aprBps, pool?.aprBps7d];
    };
    // Of token0 a thousandth at 2,000 dollars stays with LPs, and a dollar of token1.
    const apr = Math.floor((3 * 365 * 10_000) / 2_003);
    expect(figures({ fees: 'kind' })).toEqual([null, apr, Math.floor((3 * 365 * 10_000) / (7 * 2_003))]);
    // Of the platform half a thousandth of token0, and seven of the token that the reading names.
    expect(figures({ fees: 'kind', platformFees: 'token' })).toEqual([3 + 1 + 7, apr, expect.any(Number)]);
    expect(figures({ fees: 'kind', platformFees: 'kind' })[0]).toBeNull();
    expect(figures({ fees: 'kind', platformFees: 'kind', notional: 'input' })[0]).toBe(3 + 1 + 14_000);
    expect(figures({ fees: 'token', platformFees: 'kind', notional: 'input' }, { fees: 'kind' })[0]).toBe(14_004);
    expect(figures({ fees: 'unheard of' })).toEqual([null, null, null]);
  });
});

test('what is not known is left out, or null where the contract says so', () => {
  expect(recordOf({})).toEqual({
    pair: `WETH/${ODD}`,
    chain: 'Devnet',
    contractVersion: 'v2',
    poolAddress: BARE_FACTS.address,
    createdBlockNumber: 12,
    createdTimestamp: 1_790_000_000,
    token0: WETH,
    token0Symbol: 'WETH',
    token0Name: 'Wrapped Ether',
    token0Decimals: 18,
    token0FiatPrice: 2_000.5,
    token0LogoUrl: 'https://cdn.example/weth.svg',
    token0BrandColor: '#627EEA',
    token1: ODD,
    token1FiatPrice: null,
    priceProviderAddress: seedAddress(0x9),
    priceProviderStatus: 'unknown',
    priceProviderSinceBlock: 13,
    priceProviderCooldownSecs: 86_400,
    lockedPricing: false,
    creator: seedAddress(0xc1),
    admin: seedAddress(0xc2),
    adminFeeDestination: seedAddress(0xc3),
    adminUsername: null,
    verifiedAdmin: false,
    spreadProtocolFeeE6: 1,
    spreadAdminFeeE6: 2,
    protocolNotionalFeeE8: 3,
    adminNotionalFeeE8: 4,
    pauseLevel: 0,
    curBinIdx: -3,
    depositWhitelistingEnabled: false,
    swapWhitelistingEnabled: false,
    extensions: [],
    classificationSummary: { tierQualification: 'unclassified', reasonCodes: [] },
    poolFactoryAddress: BARE,
  });
});

test('all that a deployment and an operator can configure is shown', () => {
  const week = { ...NO_TOTALS, lpFee0Scaled: 7n * 10n ** 15n };
  const [weth] = BARE_FACTS.tokens;
  const tokens = [weth, { ...weth, address: ODD, symbol: 'ODD "x"', decimals: 6 }] as const;
  expect(
    recordOf({ factory: FULL, tokens, week, liquidity0Raw: 10n ** 18n, adminUsername: 'Alice', adminVerified: true }),
  ).toMatchObject({
    pair: 'WETH/ODD "x"',
    contractVersion: 'v1',
    token1Symbol: 'ODD "x"',
    token1Decimals: 6,
    adminUsername: 'Alice',
    verifiedAdmin: true,
    // A thousandth of the pool's only token a day, 365 days, in hundredths of a percent.
    aprBps7d: 3_650,
    poolFactoryAddress: FULL,
    poolDeployerAddress: seedAddress(0xd1),
    liquidityAdderAddress: seedAddress(0xd2),
    dataProviderAddress: seedAddress(0xd3),
    quoterAddress: seedAddress(0xd4),
    routerAddress: seedAddress(0xd5),
    depositAllowlistAddress: ALLOWLIST,
    oracleValueStopLossAddress: STOP_LOSS,
    priceVelocityGuardAddress: GUARD,
  });
});

test('a pool of a deployment that is switched off, or of no configured one, is not listed', () => {
  expect(listPool({ ...BARE_FACTS, factory: OFF }, null, registry)).toBeNull();
  expect(listPool({ ...BARE_FACTS, factory: seedAddress(0xf9) }, null, registry)).toBeNull();
  expect(listPool({ ...BARE_FACTS, chainId: CHAIN + 1 }, null, registry)).toBeNull();
});

describe('the cooldown is an exact integer of at most 2^64 - 1, and only 2^256 - 1 locks the provider', () => {
  test.each([
    [0n, '0', false],
    [2n ** 53n - 1n, '9007199254740991', false],
    [2n ** 53n + 1n, '9007199254740993', false],
    [2n ** 64n - 2n, '18446744073709551614', false],
    [2n ** 64n - 1n, '18446744073709551615', false],
    [2n ** 64n, '18446744073709551615', false],
    [2n ** 256n - 2n, '18446744073709551615', false],
    [MAX_UINT256, '18446744073709551615', true],
  ])('%i', (timelock, shown, locked) => {
    const { record, lockedPricing } = listed({ priceProviderTimelockSecs: timelock });
    expect(record).toContain(`"priceProviderCooldownSecs":${shown},"lockedPricing":${locked}`);
    expect(lockedPricing).toBe(locked);
  });
});

test.each([
  [1_790_086_400n, 1_790_086_400],
  [2n ** 255n, 2n ** 64n - 1n],
])('a pending change of the provider may be executed from %i on', (executeAfter, executeAfterTs) => {
  const pending = {
    pendingPriceProvider: seedAddress(0x99),
    pendingPriceProviderBlock: 77,
    pendingPriceProviderExecuteAfter: executeAfter,
  };
  const change = { newPriceProvider: seedAddress(0x99), proposedAtBlock: 77, executeAfterTs };
  expect(recordOf(pending).priceProviderChange).toEqual(change);
});

describe('details of the provider', () => {
  test('an anchored one with two feeds and a source', () => {
    expect(recordOf({ provider: ANCHORED }).priceProviderDetails).toEqual({
      providerType: 'anchored',
      oracle: ANCHORED.oracle,
      feedMode: 'synthetic',
      source: ANCHORED.source,
      marginStep: '-5',
      minMargin: '100000000000000',
      maxRefStaleness: '15',
      maxSpreadBps: '100',
      mutableParams: true,
      confidenceParam: '1000000000000000000',
      maxSpreadMult: null,
      baseMaxStaleness: null,
      quoteMaxStaleness: null,
      baseSpreadMult: null,
      quoteSpreadMult: null,
    });
  });

  test('one feed, reference mode, a parameter that was never set', () => {
    const provider = { ...ANCHORED, quoteFeedId: null, source: null, confidenceParam: null };
    const details = recordOf({ provider }).priceProviderDetails;
    expect(details).toMatchObject({ feedMode: 'single', confidenceParam: null });
    expect(details).not.toHaveProperty('source');
  });

  test.each(['regular', 'regular_l2'] as const)('a %s one', (kind) => {
    const provider = { ...ANCHORED, kind, quoteFeedId: null, maxTimeDeltaSecs: 60n };
    expect(recordOf({ provider }).priceProviderDetails).toEqual({
      providerType: 'regular',
      oracle: ANCHORED.oracle,
      marginStep: '-5',
      maxTimeDelta: '60',
      confidenceParam: '1000000000000000000',
    });
  });
});

describe('extensions', () => {
  const fields = (...extensions: ExtensionRow[]) => {
    const { depositWhitelistingEnabled, depositAllowlistProvider, extensionDetails, ...record } = recordOf({
      factory: FULL,
      extensions,
    });
    expect(record.extensions).toEqual(extensions.map(({ address }) => address));
    return { depositWhitelistingEnabled, depositAllowlistProvider, extensionDetails };
  };
  const OPEN = { depositWhitelistingEnabled: false, depositAllowlistProvider: undefined };

  test('parameters of standard ones, with the phases of a swap they run in; custom ones have none', () => {
    const stopLoss = { drawdownE6: '150000', decayPerSecondE18: '1730000000000', timelockSecs: '4294967295' };
    const { extensionDetails } = fields(
      extension({ address: CUSTOM, phases: ['beforeSwap'] }),
      extension({ address: STOP_LOSS, phases: ['afterAddLiquidity', 'afterSwap'], ...stopLoss }),
      extension({ address: GUARD, phases: ['beforeSwap', 'afterSwap'], maxChangePerBlockE18: '10000000000000000' }),
    );
    expect(extensionDetails).toEqual({
      stopLoss: {
        drawdownE6: '150000',
        decayPerSecondE18: '1730000000000',
        timelockSecs: '4294967295',
        phases: ['afterSwap'],
      },
      priceVelocity: { maxChangePerBlockE18: '10000000000000000', phases: ['beforeSwap', 'afterSwap'] },
    });
  });

  test('parameters that were never set are null; no standard extension, no details', () => {
    const unset = { drawdownE6: null, decayPerSecondE18: null, timelockSecs: null };
    expect(fields(extension({ address: STOP_LOSS, phases: [] })).extensionDetails).toEqual({
      stopLoss: { ...unset, phases: [] },
    });
    expect(fields(extension({ address: CUSTOM, phases: ['afterSwap'] }))).toEqual({
      ...OPEN,
      extensionDetails: undefined,
    });
  });

  test.each([
    ['asked at each deposit', { phases: ['beforeAddLiquidity'], allowAll: false }, true],
    ['of which nothing was set', { phases: ['beforeAddLiquidity'], allowAll: null }, true],
    ['open to all', { phases: ['beforeAddLiquidity'], allowAll: true }, false],
    ['never asked', { phases: [], allowAll: false }, false],
    ['asked at the wrong time', { phases: ['afterAddLiquidity', 'beforeSwap'], allowAll: false }, false],
  ] as const)('deposits, with an allowlist %s', (_how, row, restricted) => {
    const allowlist = extension({ address: ALLOWLIST, ...row });
    const { extensionDetails, ...deposits } = fields(allowlist);
    expect(deposits).toEqual(
      restricted ? { depositWhitelistingEnabled: true, depositAllowlistProvider: ALLOWLIST } : OPEN,
    );
    expect(extensionDetails).toBeUndefined();
    expect(listed({ factory: FULL, extensions: [allowlist] }).depositAllowlist).toBe(restricted);
  });
});

test.each([
  ['asked at each swap', { phases: ['beforeSwap'], allowAll: false }, true],
  ['open to all', { phases: ['beforeSwap'], allowAll: true }, false],
  ['asked after it alone', { phases: ['afterSwap'], allowAll: false }, false],
] as const)('swaps, with an allowlist %s', (_how, row, restricted) => {
  const extensions = [extension({ address: SWAP_ALLOWLIST, ...row })];
  expect(recordOf({ factory: FULL, extensions }).swapWhitelistingEnabled).toBe(restricted);
});

test('a delisted pool is black and keeps its reasons; tiers rank from green to black', () => {
  const reasonCodes = ['curator_unverified'] as const;
  const { classificationSummary } = recordOf({ delisted: true }, { tier: 'yellow', reasonCodes });
  expect(classificationSummary).toEqual({ tierQualification: 'black', reasonCodes });
  const ranks = [
    ...(['green', 'yellow', 'red'] as const).map((tier) => listed({}, { tier, reasonCodes }).tierRank),
    listed({}).tierRank,
    listed({ delisted: true }).tierRank,
  ];
  expect(ranks).toEqual([4, 3, 2, 1, 0]);
});

test('a pool whose index differs from the chain has no figures but the TVL by which listings choose, and says why', () => {
  const known = {
    liquidity0Raw: 10n ** 18n,
    tokens: [BARE_FACTS.tokens[0], { ...BARE_FACTS.tokens[0], address: ODD }],
  } as const;
  const [equal, differing] = [listed(known), listed({ ...known, indexDiffers: true })];
  expect([equal.shownTvlFiat, equal.tvlFiat]).toEqual([2_000.5, 2_000.5]);
  expect(differing).toMatchObject({
    tvlFiat: 2_000.5,
    volumeFiat: null,
    aprBps: null,
    aprBps7d: null,
    shownTvlFiat: null,
    shownVolumeFiat: null,
    lpFeesFiat: null,
    lpFeesFiat7d: null,
    analytics: 'null',
  });
  expect(recordOf({ indexDiffers: true }).indexState).toBe('differs');
  expect(recordOf({})).not.toHaveProperty('indexState');
});
