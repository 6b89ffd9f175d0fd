import type { Address } from 'viem';
import type { StopLossFacts, TierFacts, TokenFacts } from '../../protocol/classification.ts';
import { type Classification, classifyPool, isAnchoredFeedMatched } from '../../protocol/classification.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import type { ExtensionRow } from './extensions.ts';
import type { PoolFacts, ProviderRow } from './pool-facts.ts';

/** Gives the tier of a pool and the reasons for it; null for a pool of no enabled deployment, or without bins. */
export function classify(facts: PoolFacts, registry: OperatorRegistry): Classification | null {
  const { chainId, widestBinE6, extensions } = facts;
  const deployment = registry.deploymentOf(chainId, facts.factory);
  if (!deployment || widestBinE6 === null) return null;
  return classifyPool({
    ...facts,
    widestBinE6,
    stopLoss: stopLossFacts(extensions.find(({ address }) => address === deployment.stopLoss)),
    provider: providerFacts(facts.provider, registry),
    priceProviderTimelock: facts.priceProviderTimelockSecs,
    token0: tokenFacts(chainId, facts.tokens[0].address, registry),
    token1: tokenFacts(chainId, facts.tokens[1].address, registry),
  });
}

/** What {@link isConfirmed} needs of a pool. */
type FedPool = {
  readonly chainId: number;
  readonly token0: Address;
  readonly token1: Address;
  readonly provider: ProviderRow;
};

/** Whether a pool's anchored feeds are known to price its tokens. */
export function isConfirmed({ chainId, token0, token1, provider }: FedPool, registry: OperatorRegistry): boolean {
  return isAnchoredFeedMatched({
    provider: providerFacts(provider, registry),
    token0: tokenFacts(chainId, token0, registry),
    token1: tokenFacts(chainId, token1, registry),
  });
}

/** The extension counts as initialised once any of its settings was announced. */
function stopLossFacts(extension: ExtensionRow | undefined): StopLossFacts | null {
  if (!extension) return null;
  const { phases, drawdownE6, decayPerSecondE18, timelockSecs } = extension;
  return {
    phases,
    initialized: drawdownE6 !== null,
    drawdownE6: BigInt(drawdownE6 ?? 0),
    decayPerSecondE18: BigInt(decayPerSecondE18 ?? 0),
    timelockSecs: BigInt(timelockSecs ?? 0),
  };
}

function providerFacts(provider: ProviderRow | null, registry: OperatorRegistry): TierFacts['provider'] {
  if (!provider) return { kind: 'unknown' };
  const usesMultiplierOracle = registry.isMultiplierOracle(provider.chainId, provider.oracle);
  if (provider.kind !== 'anchored') return { ...provider, kind: 'regular', usesMultiplierOracle };
  const { mutableParams, maxRefStalenessSecs } = provider;
  return {
    ...provider,
    kind: 'anchored',
    usesMultiplierOracle,
    mutableParams: mutableParams ?? false,
    maxRefStalenessSecs: maxRefStalenessSecs ?? 0n,
  };
}

function tokenFacts(chainId: number, address: Address, registry: OperatorRegistry): TokenFacts {
  const { feedIds = [], usdPegged = false, multiplierOracle = null } = registry.token(chainId, address) ?? {};
  return { address, feedIds, usdPegged, multiplierOracle };
}
