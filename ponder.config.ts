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
import {
  depositAllowlistEvents,
  priceVelocityGuardEvents,
  stopLossEvents,
  swapAllowlistEvents,
} from './protocol/layouts/flat/extension-abi.ts';
import { flatPoolEvents } from './protocol/layouts/flat/pool-abi.ts';

const poolFactories = contractSources(chains, (deployment) => [deployment.poolFactory]);
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

// Ponder digests its contracts with every property they have.
const factorySource = { abi: factoryEvents, chain: poolFactories, logicHash: logicHash() };

/** What the indexer follows: every enabled deployment of every chain of the chains file. */
export default createConfig({
  chains: ponderChains(chains),
  contracts: {
    PoolFactory: factorySource,
    FlatPool: { abi: flatPoolEvents, chain: childSources(poolFactories, poolCreated, 'poolAddress') },
    StopLoss: { abi: stopLossEvents, chain: contractSources(chains, ({ stopLoss }) => [stopLoss]) },
    PriceVelocityGuard: {
      abi: priceVelocityGuardEvents,
      chain: contractSources(chains, ({ priceVelocityGuard }) => [priceVelocityGuard]),
    },
    DepositAllowlist: {
      abi: depositAllowlistEvents,
      chain: contractSources(chains, ({ depositAllowlist }) => [depositAllowlist]),
    },
    SwapAllowlist: {
      abi: swapAllowlistEvents,
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
