import type { Address, Hex } from 'viem';
import { MAX_UINT256 } from './fixed-point.ts';
import type { AttachedExtension, ExtensionPhase } from './pool-events.ts';

/** What the operator knows of a pool token. Addresses and feed ids are lowercase. */
export interface TokenFacts {
  readonly address: Address;
  /** Feeds known to price this token. */
  readonly feedIds: readonly Hex[];
  readonly usdPegged: boolean;
  /** For a tokenized stock: the only oracle that knows the issuer's multiplier. */
  readonly multiplierOracle: Address | null;
}

/** What every recognised price provider reports. Its first feed prices `base`, its second, if any, `quote`. */
interface ProviderFeeds {
  readonly oracle: Address;
  readonly base: Address;
  readonly quote: Address;
  readonly baseFeedId: Hex;
  /** Null when one feed prices the pair. */
  readonly quoteFeedId: Hex | null;
  /** True when the operator knows `oracle` as the multiplier oracle of any token. */
  readonly usesMultiplierOracle: boolean;
}

export interface AnchoredProviderFacts extends ProviderFeeds {
  readonly kind: 'anchored';
  readonly mutableParams: boolean;
  readonly maxRefStalenessSecs: bigint;
}

interface RegularProviderFacts extends ProviderFeeds {
  readonly kind: 'regular';
}

export interface StopLossFacts {
  readonly phases: readonly ExtensionPhase[];
  readonly initialized: boolean;
  readonly drawdownE6: bigint;
  readonly decayPerSecondE18: bigint;
  readonly timelockSecs: bigint;
}

/** All that a pool's tier depends on. */
export interface TierFacts {
  /** Width of the widest bin, millionths. */
  readonly widestBinE6: number;
  /** Null when the pool has no StopLoss extension. */
  readonly stopLoss: StopLossFacts | null;
  /** `unknown` when no known factory created the provider. */
  readonly provider: AnchoredProviderFacts | RegularProviderFacts | { readonly kind: 'unknown' };
  /** Seconds; 2^256 - 1 means never. */
  readonly priceProviderTimelock: bigint;
  readonly admin: Address;
  readonly creator: Address;
  readonly adminVerified: boolean;
  readonly extensions: readonly AttachedExtension[];
  readonly token0: TokenFacts;
  readonly token1: TokenFacts;
}

/** Tiers of a pool, best first. */
export const TIERS = ['green', 'yellow', 'red'] as const;
export type Tier = (typeof TIERS)[number];
/** Tiers in listings: also those of pools that are not classified yet, or delisted. */
export const LISTED_TIERS = [...TIERS, 'unclassified', 'black'] as const;

/** `red` and `yellow` set the tier; `lower` then lowers it by one. */
type Effect = 'red' | 'yellow' | 'lower';

interface Rule {
  readonly code: string;
  readonly effect: Effect;
  readonly applies: (facts: TierFacts) => boolean;
}

const MAX_BIN_LENGTH_E6 = 10_000;
const MAX_DRAWDOWN_E6 = 150_000n;
const MAX_DECAY_PER_DAY_E18 = 15n * 10n ** 16n;
const MAX_FEED_STALENESS_SECS = 15n;
const SECONDS_PER_DAY = 86_400n;
/** The longest timelock that a StopLoss can have: its settings are as good as frozen. */
const FROZEN_TIMELOCK_SECS = 2n ** 32n - 1n;
const REMOVAL_PHASES: readonly ExtensionPhase[] = ['beforeRemoveLiquidity', 'afterRemoveLiquidity'];

const RULES = [
  { code: 'bin_width_exceeded', effect: 'yellow', applies: (facts) => facts.widestBinE6 > MAX_BIN_LENGTH_E6 },
  { code: 'stop_loss_missing', effect: 'red', applies: (facts) => runningStopLoss(facts) === null },
  {
    code: 'stop_loss_uninitialized',
    effect: 'red',
    applies: (facts) => runningStopLoss(facts) !== null && activeStopLoss(facts) === null,
  },
  {
    code: 'stop_loss_mutable',
    effect: 'yellow',
    applies: (facts) => activeStopLossHas(facts, ({ timelockSecs }) => timelockSecs < FROZEN_TIMELOCK_SECS),
  },
  {
    code: 'stop_loss_drawdown_exceeded',
    effect: 'yellow',
    applies: (facts) => activeStopLossHas(facts, ({ drawdownE6 }) => drawdownE6 > MAX_DRAWDOWN_E6),
  },
  {
    code: 'stop_loss_decay_exceeded',
    effect: 'yellow',
    applies: (facts) =>
      activeStopLossHas(facts, ({ decayPerSecondE18 }) => decayPerSecondE18 * SECONDS_PER_DAY > MAX_DECAY_PER_DAY_E18),
  },
  { code: 'app_missing', effect: 'red', applies: ({ provider }) => provider.kind !== 'anchored' },
  {
    code: 'app_mutable',
    effect: 'yellow',
    applies: ({ provider }) => provider.kind === 'anchored' && provider.mutableParams,
  },
  {
    code: 'feed_staleness_exceeded',
    effect: 'yellow',
    applies: ({ provider }) => provider.kind === 'anchored' && provider.maxRefStalenessSecs > MAX_FEED_STALENESS_SECS,
  },
  {
    code: 'price_provider_mutable',
    effect: 'yellow',
    applies: ({ priceProviderTimelock }) => priceProviderTimelock !== MAX_UINT256,
  },
  { code: 'curator_unverified', effect: 'yellow', applies: ({ adminVerified }) => !adminVerified },
  { code: 'curator_not_creator', effect: 'yellow', applies: ({ admin, creator }) => admin !== creator },
  {
    code: 'remove_liquidity_extension_present',
    effect: 'red',
    applies: ({ extensions }) =>
      extensions.some(({ phases }) => phases.some((phase) => REMOVAL_PHASES.includes(phase))),
  },
  { code: 'anchored_feed_unmatched', effect: 'lower', applies: isAnchoredFeedUnmatched },
  { code: 'multiplier_feed_miswired', effect: 'red', applies: isMultiplierFeedMiswired },
  { code: 'multiplier_token_unscaled', effect: 'red', applies: isMultiplierTokenUnscaled },
] as const satisfies readonly Rule[];

export type ReasonCode = (typeof RULES)[number]['code'];

export interface Classification {
  readonly tier: Tier;
  /** Why the pool is not green; empty for green. */
  readonly reasonCodes: readonly ReasonCode[];
}

/** The tier of a pool and the reasons for it. */
export function classifyPool(facts: TierFacts): Classification {
  const broken = RULES.filter(({ applies }) => applies(facts));
  const has = (effect: Effect) => broken.some((rule) => rule.effect === effect);
  const tier = has('red') ? 'red' : has('yellow') ? 'yellow' : 'green';
  return { tier: has('lower') ? LOWERED[tier] : tier, reasonCodes: broken.map(({ code }) => code) };
}

const LOWERED: Readonly<Record<Tier, Tier>> = { green: 'yellow', yellow: 'red', red: 'red' };

/** The pool's StopLoss; null when swaps do not call it. */
function runningStopLoss({ stopLoss }: TierFacts): StopLossFacts | null {
  return stopLoss?.phases.includes('afterSwap') ? stopLoss : null;
}

function activeStopLoss(facts: TierFacts): StopLossFacts | null {
  const stopLoss = runningStopLoss(facts);
  return stopLoss?.initialized && stopLoss.drawdownE6 > 0n ? stopLoss : null;
}

function activeStopLossHas(facts: TierFacts, test: (stopLoss: StopLossFacts) => boolean): boolean {
  const stopLoss = activeStopLoss(facts);
  return stopLoss !== null && test(stopLoss);
}

/** True when an anchored provider's feeds are known to price token0 in token1, or in dollars if token1 is pegged. */
export function isAnchoredFeedMatched({
  provider,
  token0,
  token1,
}: Pick<TierFacts, 'provider' | 'token0' | 'token1'>): boolean {
  if (provider.kind !== 'anchored') return false;
  const { base, quote, baseFeedId, quoteFeedId } = provider;
  const quoteMatched = quoteFeedId === null ? token1.usdPegged : token1.feedIds.includes(quoteFeedId);
  return base === token0.address && quote === token1.address && token0.feedIds.includes(baseFeedId) && quoteMatched;
}

function isAnchoredFeedUnmatched(facts: TierFacts): boolean {
  return facts.provider.kind === 'anchored' && !isAnchoredFeedMatched(facts);
}

/** True when a multiplier oracle scales no token of the pool, or one through a feed not known for that token. */
function isMultiplierFeedMiswired({ provider, token0, token1 }: TierFacts): boolean {
  if (provider.kind === 'unknown' || !provider.usesMultiplierOracle) return false;
  const scaled = [
    { token: token0, feedId: provider.baseFeedId },
    { token: token1, feedId: provider.quoteFeedId },
  ].filter(({ token }) => token.multiplierOracle === provider.oracle);
  return scaled.length === 0 || scaled.some(({ token, feedId }) => feedId === null || !token.feedIds.includes(feedId));
}

function isMultiplierTokenUnscaled({ provider, token0, token1 }: TierFacts): boolean {
  if (provider.kind === 'unknown') return false;
  return [token0, token1].some(
    ({ multiplierOracle }) => multiplierOracle !== null && multiplierOracle !== provider.oracle,
  );
}
