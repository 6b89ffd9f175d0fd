import { describe, expect, test } from 'vitest';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import type { ExtensionRow } from './extensions.ts';
import type { ProviderRow } from './pool-facts.ts';
import {
  ALLOWLIST,
  CHAIN,
  CUSTOM,
  FULL,
  GUARD,
  listed,
  ODD,
  recordOf,
  STOP_LOSS,
  SWAP_ALLOWLIST,
  WETH,
} from './record.fixture.ts';

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
