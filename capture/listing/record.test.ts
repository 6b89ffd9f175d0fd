import { describe, expect, test } from 'vitest';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { NO_TOTALS } from '../../test/metadata/no-totals.ts';
import {
  ALLOWLIST,
  BARE,
  BARE_FACTS,
  CHAIN,
  FULL,
  GUARD,
  listed,
  ODD,
  OFF,
  recordOf,
  registry,
  STOP_LOSS,
  WETH,
} from './record.fixture.ts';
import { listPool } from './record.ts';

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
    swapGas: { token0In: null, token1In: null },
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
