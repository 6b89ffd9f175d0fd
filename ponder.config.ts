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

const poolFactories = contractSources(chains, (deployment) => [deployment.poolFactory]);
const flatFactories = contractSources(chains, ({ layout, poolFactory }) => (layout === 'flat' ? [poolFactory] : []));
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

const flat = eventLayouts.flat.abi;

// Ponder digests its contracts with every property they have.
const factorySource = { abi: factoryEvents, chain: poolFactories, logicHash: logicHash() };

/** What the indexer follows: every enabled deployment of every chain of the chains file. */
export default createConfig({
  chains: ponderChains(chains),
  contracts: {
    PoolFactory: factorySource,
    FlatPool: { abi: flat.pool, chain: childSources(flatFactories, poolCreated, 'poolAddress') },
    StopLoss: { abi: flat.stopLoss, chain: contractSources(chains, ({ stopLoss }) => [stopLoss]) },
    PriceVelocityGuard: {
      abi: flat.priceVelocityGuard,
      chain: contractSources(chains, ({ priceVelocityGuard }) => [priceVelocityGuard]),
    },
    DepositAllowlist: {
      abi: flat.depositAllowlist,
      chain: contractSources(chains, ({ depositAllowlist }) => [depositAllowlist]),
    },
    SwapAllowlist: {
      abi: flat.swapAllowlist,
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
