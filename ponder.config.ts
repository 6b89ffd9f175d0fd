import { createConfig } from 'ponder';
import { getAbiItem } from 'viem';
import { chains } from './indexer/chains.ts';
import { contractSources } from './indexer/deployments.ts';
import { logicHash } from './indexer/logic-hash.ts';
import { childSources, ponderChains } from './indexer/sources.ts';
import { factoryEvents } from './protocol/abi/factory.ts';
import {
  anchoredProviderFactoryEvents,
  providerEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from './protocol/abi/providers.ts';
import { eventLayouts } from './protocol/layouts/event-layouts.ts';

const { flat, packed } = eventLayouts;

/** Deployments name contracts of their own layout. */
const ofLayout = (layout: string, addressesOf: Parameters<typeof contractSources>[1]) =>
  contractSources(chains, (deployment) => (deployment.layout === layout ? addressesOf(deployment) : []));

const poolFactories = contractSources(chains, (deployment) => [deployment.poolFactory]);
const flatFactories = ofLayout('flat', ({ poolFactory }) => [poolFactory]);
const packedFactories = ofLayout('packed', ({ poolFactory }) => [poolFactory]);
const anchoredFactories = contractSources(chains, (deployment) => deployment.anchoredProviderFactories);
const regularFactories = contractSources(chains, (deployment) =>
  deployment.providerFactories.filter(({ l2 }) => !l2).map(({ address }) => address),
);
const regularL2Factories = contractSources(chains, (deployment) =>
  deployment.providerFactories.filter(({ l2 }) => l2).map(({ address }) => address),
);

const poolCreated = getAbiItem({ abi: factoryEvents, name: 'PoolCreated' });
const anchoredDeployed = getAbiItem({ abi: anchoredProviderFactoryEvents, name: 'ProviderDeployed' });
const [regularDeployed] = regularProviderFactoryEvents;
const [regularL2Deployed] = regularL2ProviderFactoryEvents;

const everyFactoryEvent = [...factoryEvents, ...flat.abi.factory, ...packed.abi.factory] as const;

// Ponder digests its contracts with every property they have.
const factorySource = { abi: everyFactoryEvent, chain: poolFactories, logicHash: logicHash() };

/** What the indexer follows: every enabled deployment of every chain of the chains file. */
export default createConfig({
  chains: ponderChains(chains),
  contracts: {
    PoolFactory: factorySource,
    FlatPool: { abi: flat.abi.pool, chain: childSources(flatFactories, poolCreated, 'poolAddress') },
    PackedPool: { abi: packed.abi.pool, chain: childSources(packedFactories, poolCreated, 'poolAddress') },
    StopLoss: { abi: flat.abi.stopLoss, chain: ofLayout('flat', ({ stopLoss }) => [stopLoss]) },
    PackedStopLoss: { abi: packed.abi.stopLoss, chain: ofLayout('packed', ({ stopLoss }) => [stopLoss]) },
    PriceVelocityGuard: {
      abi: flat.abi.priceVelocityGuard,
      chain: ofLayout('flat', ({ priceVelocityGuard }) => [priceVelocityGuard]),
    },
    PackedPriceVelocityGuard: {
      abi: packed.abi.priceVelocityGuard,
      chain: ofLayout('packed', ({ priceVelocityGuard }) => [priceVelocityGuard]),
    },
    // Allowlists are the same in every layout.
    DepositAllowlist: {
      abi: flat.abi.depositAllowlist,
      chain: contractSources(chains, ({ depositAllowlist }) => [depositAllowlist]),
    },
    SwapAllowlist: {
      abi: flat.abi.swapAllowlist,
      chain: contractSources(chains, ({ swapAllowlist }) => [swapAllowlist]),
    },
    AnchoredProviderFactory: { abi: anchoredProviderFactoryEvents, chain: anchoredFactories },
    RegularProviderFactory: { abi: regularProviderFactoryEvents, chain: regularFactories },
    RegularL2ProviderFactory: { abi: regularL2ProviderFactoryEvents, chain: regularL2Factories },
    AnchoredProvider: { abi: providerEvents, chain: childSources(anchoredFactories, anchoredDeployed, 'provider') },
    RegularProvider: { abi: providerEvents, chain: childSources(regularFactories, regularDeployed, 'provider') },
    RegularL2Provider: { abi: providerEvents, chain: childSources(regularL2Factories, regularL2Deployed, 'provider') },
  },
});
