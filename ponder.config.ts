import { createConfig } from 'ponder';
import { getAbiItem } from 'viem';
import { chains } from './indexer/chains.ts';
import { contractSources, v0Sources } from './indexer/deployments.ts';
import logic from './indexer/logic-version.json' with { type: 'json' };
import { childSources, ponderChains } from './indexer/sources.ts';
import { factoryEvents } from './protocol/abi/factory.ts';
import {
  anchoredProviderFactoryEvents,
  providerEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from './protocol/abi/providers.ts';
import { v0FactoryEvents, v0PoolEvents } from './protocol/abi/v0.ts';
import { eventLayouts } from './protocol/layouts/event-layouts.ts';
import { depositAllowlistEvents, swapAllowlistEvents } from './protocol/layouts/extension-events.ts';

/** Deployments name contracts of their own layout. */
const ofLayout = (layout: string, addressesOf: Parameters<typeof contractSources>[1]) =>
  contractSources(chains, (deployment) => (deployment.layout === layout ? addressesOf(deployment) : []));

const poolFactories = contractSources(chains, (deployment) => [deployment.poolFactory]);
const anchoredFactories = contractSources(chains, (deployment) => deployment.anchoredProviderFactories);
const regularFactories = contractSources(chains, (deployment) =>
  deployment.providerFactories.filter(({ l2 }) => !l2).map(({ address }) => address),
);
const regularL2Factories = contractSources(chains, (deployment) =>
  deployment.providerFactories.filter(({ l2 }) => l2).map(({ address }) => address),
);

const v0Factories = v0Sources(chains);

const poolCreated = getAbiItem({ abi: factoryEvents, name: 'PoolCreated' });
const anchoredDeployed = getAbiItem({ abi: anchoredProviderFactoryEvents, name: 'ProviderDeployed' });
const [v0PoolCreated] = v0FactoryEvents;
const [regularDeployed] = regularProviderFactoryEvents;
const [regularL2Deployed] = regularL2ProviderFactoryEvents;

type Layouts = typeof eventLayouts;
type Layout = Layouts[keyof Layouts];
type Contract<Name extends 'pool' | 'stopLoss' | 'priceVelocityGuard'> = {
  readonly [Of in keyof Layouts as Layouts[Of]['sources'][Name]]: {
    readonly abi: Layouts[Of]['abi'][Name];
    readonly chain: ReturnType<typeof childSources> | ReturnType<typeof contractSources>;
  };
};

const everyFactoryEvent: readonly ((typeof factoryEvents)[number] | Layout['abi']['factory'][number])[] = [
  ...factoryEvents,
  ...Object.values(eventLayouts).flatMap(({ abi }) => abi.factory),
];

/** What differs between layouts, by the names of its sources. */
const layoutContracts = Object.fromEntries(
  Object.entries(eventLayouts).flatMap(([layout, { abi, sources }]) => {
    const factories = ofLayout(layout, ({ poolFactory }) => [poolFactory]);
    return [
      [sources.pool, { abi: abi.pool, chain: childSources(factories, poolCreated, 'poolAddress') }],
      [sources.stopLoss, { abi: abi.stopLoss, chain: ofLayout(layout, ({ stopLoss }) => [stopLoss]) }],
      [
        sources.priceVelocityGuard,
        { abi: abi.priceVelocityGuard, chain: ofLayout(layout, ({ priceVelocityGuard }) => [priceVelocityGuard]) },
      ],
    ];
  }),
) as Contract<'pool'> & Contract<'stopLoss'> & Contract<'priceVelocityGuard'>;

// Ponder digests its contracts with every property they have: rows of another version are refused.
const factorySource = { abi: everyFactoryEvent, chain: poolFactories, logicVersion: logic.version };

/** What the indexer follows: every enabled deployment of every chain of the chains file. */
export default createConfig({
  chains: ponderChains(chains, process.env.PONDER_GATEWAY_URL ?? ''),
  contracts: {
    PoolFactory: factorySource,
    ...layoutContracts,
    // Allowlists are the same in every layout.
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
    V0PoolFactory: { abi: v0FactoryEvents, chain: v0Factories },
    V0Pool: { abi: v0PoolEvents, chain: childSources(v0Factories, v0PoolCreated, 'pool') },
    RegularL2Provider: { abi: providerEvents, chain: childSources(regularL2Factories, regularL2Deployed, 'provider') },
  },
});
