import type { Part } from '../../local/processes/supervisor.ts';
import { E6, Q64 } from '../../protocol/fixed-point.ts';
import { deployToken, fundAccounts } from '../actions.ts';
import type { ServedChain } from '../chains-config.ts';
import type { DevChain } from '../dev-chain.ts';
import { createLivePool, type LivePool, type LiveSetup, ONE } from '../live/live-pools.ts';
import { deployRegistry, type FeedPrice } from '../live/registry.ts';
import { feedId } from '../providers.ts';
import type { ScenarioToken } from '../scenario/market.ts';
import type { Scenario } from '../scenario.ts';
import type { Random } from '../traffic/random.ts';

export interface LivePart extends Part {
  readonly pools: readonly LivePool[];
  /** Tokens of these pools alone: orders of the scenario's tokens are not routed through them. */
  readonly tokens: readonly ScenarioToken[];
  readonly live: NonNullable<ServedChain['live']>;
}

/** Pools of each layout: one without a guard, one with a stop loss. */
const POOLS = [
  ['flat', 0],
  ['flat', 1],
  ['packed', 0],
  ['packed', 1],
] as const;
const TOKENS = [
  { symbol: 'DUO', name: 'Two dollars', decimals: 18, usd: '2' },
  { symbol: 'UNO', name: 'One dollar', decimals: 18, usd: '1' },
] as const;
const MID_X64 = 2n * Q64;
/** Step and bound of the mid's walk, and half of the spread, millionths: stop losses keep their room. */
const STEP_E6 = 200;
const BOUND_E6 = 4_000;
const HALF_SPREAD_E6 = 100n;

/** Makes pools of each layout whose makers price them block by block, and their tokens. */
export async function openLivePools(chain: DevChain, { deployment, packed }: Scenario) {
  if (packed === undefined) throw new Error('the scenario has no packed factory');
  const tokens: ScenarioToken[] = [];
  for (const plan of TOKENS) {
    const address = await deployToken(chain, plan);
    const accounts = [chain.roles.provider, chain.roles.trafficTrader, chain.roles.taker];
    for (const each of [deployment, packed]) {
      await fundAccounts(chain, each, address, { accounts, amount: ONE ** 2n });
    }
    tokens.push({ ...plan, address, feed: plan.symbol, feedId: feedId(plan.symbol), listedPrice: true });
  }
  const [token0, token1] = tokens.map(({ address }) => address);
  if (token0 === undefined || token1 === undefined) throw new Error('a pair has two tokens');
  const setup: LiveSetup = { chain, flat: deployment, packed, token0, token1, registry: await deployRegistry(chain) };
  const pools: LivePool[] = [];
  for (const [layout, number] of POOLS) pools.push(await createLivePool(setup, layout, number));
  return { setup, tokens, pools };
}

/** Walks the mid around the price at which pools are made. */
export function priceWalk(random: Random): () => FeedPrice {
  let offsetE6 = 0;
  return () => {
    offsetE6 = Math.max(-BOUND_E6, Math.min(BOUND_E6, offsetE6 + random.integer(-STEP_E6, STEP_E6)));
    return priceAt(offsetE6);
  };
}

/** A price at this distance from the middle, millionths. */
function priceAt(offsetE6: number): FeedPrice {
  const midX64 = (MID_X64 * (E6 + BigInt(offsetE6))) / E6;
  return { bidX64: (midX64 * (E6 - HALF_SPREAD_E6)) / E6, askX64: (midX64 * (E6 + HALF_SPREAD_E6)) / E6 };
}
