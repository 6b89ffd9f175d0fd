import { parseChainsFile } from '../../config/load-chains.ts';
import { PoolRecord } from '../../db/listing/pool-record.ts';
import { showPool } from '../../db/listing/show-pool.ts';
import { parseJson } from '../../runtime/json.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { NO_TOTALS } from '../../test/metadata/no-totals.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import type { PoolFacts } from './pool-facts.ts';
import { PRICE_AGE } from './price-age.ts';
import { listPool } from './record.ts';

/** Factories: one with all that can be configured, one with nothing, one that is switched off. */
export const [FULL, BARE, OFF] = [seedAddress(0xf1), seedAddress(0xf2), seedAddress(0xf3)];
export const [WETH, ODD] = [seedAddress(0x70), seedAddress(0x71)];
export const [STOP_LOSS, GUARD, ALLOWLIST, CUSTOM, SWAP_ALLOWLIST] = [
  seedAddress(0x51),
  seedAddress(0x52),
  seedAddress(0x53),
  seedAddress(0x54),
  seedAddress(0x55),
] as const;
export const CHAIN = 31337;

const common = { layout: 'flat', fromBlock: 0 };
export const registry = createRegistry(
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

export const shownPrice = (usd: number) => ({ usd, age: PRICE_AGE.shown });

/** A pool of which as little as possible is known. */
export const BARE_FACTS: PoolFacts = {
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

export const listed = (facts: Partial<PoolFacts>, tier: Parameters<typeof listPool>[1] = null) => {
  const result = listPool({ ...BARE_FACTS, ...facts }, tier, registry);
  if (result === null) throw new Error('not listed');
  return result.pool;
};

const NO_GAS = { token0In: null, token1In: null };

/** The record as a reader of the listing gets it, checked against the contract: no field more or less. */
export const recordOf = (facts: Partial<PoolFacts>, tier: Parameters<typeof listPool>[1] = null) => {
  const [price0, price1] = (facts.tokens ?? BARE_FACTS.tokens).map(({ lastPrice }) => lastPrice?.usd ?? null);
  const prices = [price0 ?? null, price1 ?? null] as const;
  const text = showPool({ record: listed(facts, tier).record, status: 'unknown', swapGas: NO_GAS, prices, day: null });
  return PoolRecord.parse(parseJson(text));
};
