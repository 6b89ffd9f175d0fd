import { type Address, type Hex, numberToHex } from 'viem';
import { addLiquidity, deployToken, fundAccounts } from '../../devnet/actions.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain, type DevChain } from '../../devnet/dev-chain.ts';
import { createPool } from '../../devnet/pools.ts';
import { deployManualProvider, type PricedPair } from '../../devnet/providers.ts';
import type { PoolToken, ServedPool } from '../../quoting/pools/pool-directory.ts';
import { type BenchMarket, CHAIN_ID, servedPool } from './market.ts';
import type { MarketPlan, PlannedPool } from './market-plan.ts';

/** Makes the planned market on a fresh node: a provider, a pool and its liquidity each. */
export async function deployMarket(rpcUrl: string, plan: MarketPlan): Promise<BenchMarket> {
  const chain = await connectDevChain(rpcUrl);
  const deployment = await deployProtocol(rpcUrl, CHAIN_ID);
  const tokens: PoolToken[] = [];
  for (const { symbol, decimals } of plan.tokens) {
    const address = await deployToken(chain, { name: symbol, symbol, decimals });
    const amount = 10n ** BigInt(decimals + 18);
    await fundAccounts(chain, deployment, address, { accounts: [chain.roles.provider], amount });
    tokens.push({ address, symbol, decimals });
  }
  const pools: ServedPool[] = [];
  for (const planned of plan.pools) {
    const [token0, token1] = [planned.token0, planned.token1].map((token) => tokens[plan.tokens.indexOf(token)]);
    if (!token0 || !token1) throw new RangeError('a pool of unplanned tokens');
    const pair = { token0: token0.address, token1: token1.address };
    const salt = numberToHex(pools.length + 1, { size: 32 });
    const address = await deployPool(chain, deployment, planned, { ...pair, salt });
    pools.push(servedPool(planned, address, token0, token1));
  }
  return { tokens, pools };
}

async function deployPool(
  chain: DevChain,
  deployment: Deployment,
  planned: PlannedPool,
  pair: PricedPair & { readonly salt: Hex },
): Promise<Address> {
  const numbers = Array.from({ length: planned.highestBin - planned.lowestBin + 1 }, (_, i) => planned.lowestBin + i);
  const amount1 = (planned.priceE12 * 10n ** BigInt(planned.token1.decimals)) / 10n ** 12n;
  const address = await createPool(chain, deployment, {
    ...pair,
    priceProvider: await deployManualProvider(chain, pair, planned.quote),
    bins: numbers.map((bin) => ({ bin, lengthE6: planned.lengthE6, addFeeBuyE6: 100, addFeeSellE6: 100 })),
    initialAmount0PerShareE18: 10n ** BigInt(planned.token0.decimals),
    initialAmount1PerShareE18: amount1 > 0n ? amount1 : 1n,
    curBinDistFromProvidedPriceE6: planned.lowerDistE6,
  });
  const shares = planned.token0PerBinE6 * 10n ** 12n;
  const bins = numbers.map((bin) => ({ bin, shares }));
  await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins });
  return address;
}
