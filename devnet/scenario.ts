import { type Address, type Hex, stringToHex } from 'viem';
import { fundAccounts } from './actions.ts';
import { type Deployment, deployContract, deployProtocol } from './deploy.ts';
import { connectDevChain, type DevChain, setBlockTime } from './dev-chain.ts';
import type { PackedDeployment } from './packed/deploy.ts';
import type { PackedVariant } from './packed/variants.ts';
import { feedId, setFeedPrice } from './providers.ts';
import { FEEDS, type FeedPlan, MARKET_TOKENS, type ScenarioToken, type TokenPlan, toX64 } from './scenario/market.ts';
import { buildPackedPart } from './scenario/packed-pools.ts';
import type { ScenarioPool } from './scenario/plan.ts';
import { buildPool } from './scenario/pool-builder.ts';
import { STILL_POOLS } from './scenario/still-pools.ts';
import { TRADING_POOLS } from './scenario/trading-pools.ts';

export interface ScenarioFeed {
  readonly name: string;
  readonly id: Hex;
  /** USD at the start, decimal string. */
  readonly usd: string;
  /** Half-spread in millionths. */
  readonly spreadE6: number;
  /** Whether traffic moves it. */
  readonly moves: boolean;
  /** The token that it is known to price. */
  readonly vouchedFor?: Address;
}

/** What stands on a chain after `runScenario`. Plain JSON: it survives a file. */
export interface Scenario {
  readonly chainId: number;
  readonly deployment: Deployment;
  /** The factory of the packed pools, where there are any. */
  readonly packed?: PackedDeployment;
  readonly tokens: readonly ScenarioToken[];
  readonly feeds: readonly ScenarioFeed[];
  readonly pools: readonly ScenarioPool[];
  /** The oracle that knows the multiplier of tokenized stocks. No pool uses it. */
  readonly multiplierOracle: Address;
}

export interface ScenarioOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Only the pools that trade: the others take half of the blocks. */
  readonly onlyTrading?: true;
  /** How the packed pools behave; without it the scenario has no packed pools. */
  readonly packed?: PackedVariant;
}

/** What everybody gets of every token, whole tokens. */
const FORTUNE = 10n ** 12n;

/**
 * Deploys protocol, market and pools on a fresh anvil node and brings every pool into the state that it shows.
 * Addresses are the same on every fresh chain. Every transaction is mined at once, also afterwards.
 */
export async function runScenario(options: ScenarioOptions): Promise<Scenario> {
  const { rpcUrl, chainId } = options;
  const chain = await connectDevChain(rpcUrl);
  await setBlockTime(chain, 0);
  const deployment = await deployProtocol(rpcUrl, chainId);
  const tokens: ScenarioToken[] = [];
  for (const plan of MARKET_TOKENS) tokens.push(await openToken(chain, deployment, plan));
  const feeds: ScenarioFeed[] = [];
  for (const plan of FEEDS) feeds.push(await openFeed(chain, deployment, plan, tokens));
  const multiplierOracle = await deployContract(chain, 'Oracle', [deployment.poolFactory]);
  const pools: ScenarioPool[] = [];
  const plans = options.onlyTrading ? TRADING_POOLS : [...TRADING_POOLS, ...STILL_POOLS];
  for (const [index, plan] of plans.entries()) {
    pools.push(await buildPool({ chain, deployment, tokens }, plan, index + 1));
  }
  const packed = options.packed && (await buildPackedPart(chain, options.packed, tokens));
  const flat = { chainId, deployment, tokens, feeds, pools, multiplierOracle };
  return packed ? { ...flat, packed: packed.deployment, pools: [...pools, ...packed.pools] } : flat;
}

async function openToken(
  chain: DevChain,
  deployment: Deployment,
  { contract, ...plan }: TokenPlan,
): Promise<ScenarioToken> {
  const address = await deployContract(chain, contract, constructorArguments(contract, plan));
  const { provider, trader, trafficProvider, trafficTrader } = chain.roles;
  await fundAccounts(chain, deployment, address, {
    accounts: [provider, trader, trafficProvider, trafficTrader],
    amount: FORTUNE * 10n ** BigInt(plan.decimals),
  });
  return { ...plan, address, feedId: feedId(plan.feed) };
}

async function openFeed(
  chain: DevChain,
  deployment: Deployment,
  { name, usd, spreadE18, moves, vouchedFor }: FeedPlan,
  tokens: readonly ScenarioToken[],
): Promise<ScenarioFeed> {
  const id = feedId(name);
  await setFeedPrice(chain, deployment, { feedId: id, priceX64: toX64(usd), spreadE18 });
  const token = tokens.find(({ symbol }) => symbol === vouchedFor);
  const spreadE6 = Number(spreadE18 / 10n ** 12n);
  return { name, id, usd, spreadE6, moves, ...(token === undefined ? {} : { vouchedFor: token.address }) };
}

function constructorArguments(
  contract: TokenPlan['contract'],
  { name, symbol, decimals }: Omit<TokenPlan, 'contract'>,
): readonly unknown[] {
  if (contract === 'NamelessToken') return [decimals];
  const text = (value: string) => (contract === 'Bytes32Token' ? stringToHex(value, { size: 32 }) : value);
  return [text(name), text(symbol), decimals];
}
