import { type Address, encodeFunctionData, numberToHex } from 'viem';
import { E6 } from '../../protocol/fixed-point.ts';
import { anchoredFactoryAbi } from '../abi.ts';
import { addLiquidity } from '../actions.ts';
import type { Deployment } from '../deploy.ts';
import { type DevChain, send } from '../dev-chain.ts';
import { createPool } from '../pools.ts';
import {
  deployAnchoredProvider,
  deployManualProvider,
  deployRegularProvider,
  feedId,
  type PricedPair,
} from '../providers.ts';
import type { ScenarioToken } from './market.ts';
import { toX64 } from './market.ts';
import type { PoolPlan, ProviderPlan, ScenarioPool } from './plan.ts';

/** What every pool of a scenario is built on. */
export interface Setup {
  readonly chain: DevChain;
  readonly deployment: Deployment;
  readonly tokens: readonly ScenarioToken[];
}

type Pair = readonly [ScenarioToken, ScenarioToken];

const E18 = 10n ** 18n;

/** Creates a pool as planned, funds it and brings it into its state. `number` makes its address its own. */
export async function buildPool(setup: Setup, plan: PoolPlan, number: number): Promise<ScenarioPool> {
  const { chain, deployment } = setup;
  const pair = [tokenOf(setup, plan.pair[0]), tokenOf(setup, plan.pair[1])] as const;
  const [token0, token1] = [pair[0].address, pair[1].address];
  const priceProvider = await deployProvider(setup, plan.provider, pair);
  const pool = await createPool(chain, deployment, {
    token0,
    token1,
    priceProvider,
    bins: plan.bins,
    initialAmount0PerShareE18: 10n ** BigInt(pair[0].decimals),
    initialAmount1PerShareE18: (priceX64(pair) * 10n ** BigInt(pair[1].decimals)) >> 64n,
    salt: numberToHex(number, { size: 32 }),
    ...given('extensions', plan.extensions?.(deployment, chain)),
    ...given('priceProviderTimelock', plan.priceProviderTimelock),
    ...given('adminNotionalFeeE8', plan.adminNotionalFeeE8),
  });
  const shares = ((BigInt(plan.usdPerBin) << 64n) * E18) / toX64(pair[0].usd);
  if (shares > 0n) {
    const bins = plan.bins.map(({ bin }) => ({ bin, shares }));
    await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
  }
  await plan.finish?.({
    chain,
    deployment,
    pool,
    feedIdOf: feedId,
    token0PerBin: (shares * 10n ** BigInt(pair[0].decimals)) / E18,
    deployOtherProvider: () => deployProvider(setup, plan.provider, pair),
  });
  const indexes = plan.bins.map(({ bin }) => bin);
  return {
    name: plan.name,
    shows: plan.shows,
    generation: 'flat',
    address: pool,
    token0,
    token1,
    priceProvider,
    busy: plan.busy,
    settled: plan.settled ?? false,
    lowestBin: Math.min(...indexes),
    highestBin: Math.max(...indexes),
  };
}

function tokenOf({ tokens }: Setup, symbol: string): ScenarioToken {
  const token = tokens.find((candidate) => candidate.symbol === symbol);
  if (token === undefined) throw new Error(`the market has no token "${symbol}"`);
  return token;
}

/** Price of token0 in token1, whole tokens, Q64.64. */
function priceX64([token0, token1]: Pair): bigint {
  return (toX64(token0.usd) << 64n) / toX64(token1.usd);
}

/** A field that is left out when its value is: what exactOptionalPropertyTypes asks for. */
function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

async function deployProvider(setup: Setup, plan: ProviderPlan, pair: Pair): Promise<Address> {
  const { chain, deployment } = setup;
  const priced: PricedPair = { token0: pair[0].address, token1: pair[1].address };
  if (plan.kind === 'manual') return deployManualProvider(chain, priced, quoteAround(pair, plan.halfSpreadE6));
  if (plan.kind === 'regular') {
    return deployRegularProvider(chain, deployment, {
      ...priced,
      feedId: feedId(plan.feed),
      ...given('marginStep', plan.marginStep),
      ...given('futureTolerance', plan.futureTolerance),
    });
  }
  const provider = await deployAnchoredProvider(chain, deployment, {
    ...priced,
    baseFeedId: feedId(plan.base),
    ...given('quoteFeedId', plan.quote === undefined ? undefined : feedId(plan.quote)),
    ...given('mutableParams', plan.mutableParams),
    ...given('maxRefStaleness', plan.maxRefStaleness),
  });
  if (plan.sourceHalfSpreadE6 !== undefined) {
    const source = await deployManualProvider(chain, priced, quoteAround(pair, plan.sourceHalfSpreadE6));
    const data = encodeFunctionData({ abi: anchoredFactoryAbi, functionName: 'setSource', args: [provider, source] });
    await send(chain, { from: chain.roles.curator, to: deployment.anchoredProviderFactory, data });
  }
  return provider;
}

function quoteAround(pair: Pair, halfSpreadE6: bigint): { bidX64: bigint; askX64: bigint } {
  const mid = priceX64(pair);
  return { bidX64: (mid * (E6 - halfSpreadE6)) / E6, askX64: (mid * (E6 + halfSpreadE6)) / E6 };
}
