import { type Address, numberToHex } from 'viem';
import { E6 } from '../../protocol/fixed-point.ts';
import { addLiquidity, fundAccounts } from '../actions.ts';
import type { DevChain } from '../dev-chain.ts';
import { deployPackedProtocol, type PackedDeployment, packedStopLossExtension } from '../packed/deploy.ts';
import { deployQuoteProvider, type PackedQuote, type QuoteProviderKind } from '../packed/providers.ts';
import type { PackedVariant } from '../packed/variants.ts';
import { createPool, type ExtensionSpec, evenBins } from '../pools.ts';
import { type ScenarioToken, toX64 } from './market.ts';
import type { ScenarioPool } from './plan.ts';

/** A packed factory and its pools. */
export interface PackedPart {
  readonly deployment: PackedDeployment;
  readonly pools: readonly ScenarioPool[];
}

/** A pool of the packed generation: traffic trades in all of them and moves what their providers quote. */
interface PackedPlan {
  readonly name: string;
  readonly shows: string;
  readonly pair: readonly [string, string];
  readonly provider: QuoteProviderKind;
  readonly bins: ReturnType<typeof evenBins>;
  /** USD in each bin. */
  readonly usdPerBin: number;
  readonly extensions?: (deployment: PackedDeployment, provider: Address) => readonly ExtensionSpec[];
}

const DAY_SECS = 86_400;
const E18 = 10n ** 18n;
/** Distance of bid and ask from the reference, millionths. */
const HALF_SPREAD_E6 = 150n;

export const PACKED_POOLS: readonly PackedPlan[] = [
  {
    name: 'packed-plain',
    shows: 'the packed generation: int16 bins, a provider that names a reference; 18/6 decimals',
    pair: ['WETH', 'USDC'],
    provider: 'QuoteProvider',
    bins: evenBins(-12, 11, 1_000),
    usdPerBin: 20_000,
  },
  {
    name: 'packed-stop-loss',
    shows: 'the stop loss of the packed generation, fees by bin and side; 8/6 decimals; quotes are open to all',
    pair: ['WBTC', 'USDC'],
    provider: 'OpenQuoteProvider',
    bins: evenBins(-8, 7, 2_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 4 ? 100 : 300, addFeeSellE6: 150 })),
    usdPerBin: 30_000,
    extensions: (deployment) => [
      packedStopLossExtension(deployment, {
        drawdownE6: 120_000,
        decayPerSecondE18: 10n ** 12n,
        timelockSecs: DAY_SECS,
      }),
    ],
  },
  {
    name: 'packed-own-extension',
    shows: 'a provider that is an extension of its own pool; 6/18 decimals',
    pair: ['USDC', 'WETH'],
    provider: 'ExtensionQuoteProvider',
    bins: evenBins(-6, 6, 1_500),
    usdPerBin: 10_000,
    extensions: (_deployment, provider) => [{ address: provider, phases: ['beforeSwap', 'afterSwap'] }],
  },
];

/**
 * Deploys a packed factory of this variant and the pools above, and gives everybody's tokens to its router and adder.
 */
export async function buildPackedPart(
  chain: DevChain,
  variant: PackedVariant,
  tokens: readonly ScenarioToken[],
): Promise<PackedPart> {
  const deployment = await deployPackedProtocol(chain, variant);
  const { provider, trader, trafficProvider, trafficTrader } = chain.roles;
  const used = tokens.filter(({ symbol }) => PACKED_POOLS.some(({ pair }) => pair.includes(symbol)));
  const accounts = [provider, trader, trafficProvider, trafficTrader];
  for (const { address } of used) await fundAccounts(chain, deployment, address, { accounts, amount: 0n });
  const pools: ScenarioPool[] = [];
  for (const [index, plan] of PACKED_POOLS.entries()) {
    pools.push(await buildPackedPool({ chain, deployment, tokens }, plan, index + 1));
  }
  return { deployment, pools };
}

interface PackedWorld {
  readonly chain: DevChain;
  readonly deployment: PackedDeployment;
  readonly tokens: readonly ScenarioToken[];
}

async function buildPackedPool(
  { chain, deployment, tokens }: PackedWorld,
  plan: PackedPlan,
  number: number,
): Promise<ScenarioPool> {
  const [first, second] = plan.pair.map((symbol) => tokens.find((token) => token.symbol === symbol));
  if (first === undefined || second === undefined) throw new Error(`the market lacks a token of ${plan.name}`);
  const pair = { token0: first.address, token1: second.address };
  const quote = packedQuote(toX64(first.usd), toX64(second.usd));
  const priceProvider = await deployQuoteProvider(chain, deployment, { ...pair, kind: plan.provider }, quote);
  const extensions = plan.extensions?.(deployment, priceProvider);
  const address = await createPool(chain, deployment, {
    ...pair,
    priceProvider,
    bins: plan.bins,
    initialAmount0PerShareE18: E18,
    initialAmount1PerShareE18: (quote.referenceX64 * E18) >> 64n,
    salt: numberToHex(number, { size: 32 }),
    ...(extensions && { extensions }),
  });
  const shares = ((BigInt(plan.usdPerBin) << 64n) * E18) / toX64(first.usd);
  const bins = plan.bins.map(({ bin }) => ({ bin, shares }));
  await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins });
  const indexes = plan.bins.map(({ bin }) => bin);
  return {
    name: plan.name,
    shows: plan.shows,
    generation: 'packed',
    address,
    ...pair,
    priceProvider,
    busy: true,
    settled: false,
    lowestBin: Math.min(...indexes),
    highestBin: Math.max(...indexes),
  };
}

/** What a provider of two tokens of these prices (Q64.64) says. */
export function packedQuote(price0X64: bigint, price1X64: bigint): PackedQuote {
  const referenceX64 = (price0X64 << 64n) / price1X64;
  return {
    bidX64: (referenceX64 * (E6 - HALF_SPREAD_E6)) / E6,
    askX64: (referenceX64 * (E6 + HALF_SPREAD_E6)) / E6,
    referenceX64,
  };
}
