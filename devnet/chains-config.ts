import type { z } from 'zod';
import type { ChainsFile } from '../config/chains-schema.ts';
import type { BuilderConfig } from '../config/pamm-schema.ts';
import type { Deployment } from './deploy.ts';
import type { PackedDeployment } from './packed/deploy.ts';
import type { ScenarioToken } from './scenario/market.ts';
import type { Scenario } from './scenario.ts';

export type ChainsFileInput = z.input<typeof ChainsFile>;
type ChainInput = ChainsFileInput['chains'][number];
type DeploymentInput = ChainInput['deployments'][number];
type TokenInput = NonNullable<ChainsFileInput['tokens']>[number];

/** A devnet chain to serve. */
export interface ServedChain {
  readonly chainId: number;
  readonly name: string;
  readonly kind: 'ethereum' | 'bsc';
  readonly url: string;
  /** Whether heads are followed by WebSocket, which anvil speaks on the same port. */
  readonly hasSocket?: boolean;
  /** Default: that of the file. */
  readonly blockTimeMs?: number;
  /** Default: that of the file. */
  readonly readBudget?: ChainInput['readBudget'];
  /** Default: that of the file. */
  readonly warmBudget?: ChainInput['warmBudget'];
  /** Sources of prices in the block that is being built. */
  readonly live?: ChainInput['live'];
  readonly scenario: Scenario;
}

export interface BuilderEntry {
  readonly id: string;
  readonly transport: BuilderConfig['transport'];
  readonly url: string;
  readonly apiKeyEnv?: string;
}

export interface ChainsFileOptions {
  /** By the kind of chain that they serve. */
  readonly builders?: Readonly<Record<'ethereum' | 'bsc', readonly BuilderEntry[]>>;
  /** Default: one second. */
  readonly blockTimeMs?: number;
  /** Whether it says what the words of packed swaps mean, which is calibrated otherwise. */
  readonly interpretations?: boolean;
}

const NO_BUILDERS = { ethereum: [], bsc: [] } as const;

/** What a process that serves these chains takes as `CHAINS_CONFIG`. */
export function buildChainsFile(
  chains: readonly ServedChain[],
  { builders = NO_BUILDERS, blockTimeMs = 1_000, interpretations = false }: ChainsFileOptions = {},
): ChainsFileInput {
  return {
    chains: chains.map((chain) => chainEntry(chain, builders[chain.kind], blockTimeMs, interpretations)),
    tokens: chains.flatMap(({ scenario }) => scenario.tokens.map((token) => tokenEntry(scenario, token))),
    fiatPrices: {
      source: 'static',
      prices: Object.fromEntries(
        chains.flatMap(({ chainId, scenario }) =>
          scenario.tokens
            .filter(({ listedPrice }) => listedPrice === true)
            .map(({ address, usd }) => [`${chainId}:${address}`, Number(usd)]),
        ),
      ),
    },
  };
}

function chainEntry(
  { chainId, name, kind, url, hasSocket = false, scenario: { deployment, packed }, ...chain }: ServedChain,
  builders: readonly BuilderEntry[],
  blockTimeMs: number,
  interpretations: boolean,
): ChainInput {
  return {
    chainId,
    name,
    rpcUrls: [url],
    ...(hasSocket && { wsUrls: [url.replace(/^http/, 'ws')] }),
    blockTimeMs: chain.blockTimeMs ?? blockTimeMs,
    multicall3: deployment.multicall3,
    deployments: [
      {
        ...deploymentEntry(deployment, 'flat'),
        anchoredProviderFactories: [...deployment.anchoredProviderFactories],
        providerFactories: deployment.providerFactories.map((factory) => ({ ...factory })),
      },
      ...(packed
        ? [{ ...deploymentEntry(packed, 'packed'), ...(interpretations && { packed: interpretationsOf(packed) }) }]
        : []),
    ],
    pamm: { kind, builders: builders.map((builder) => ({ ...builder })) },
    ...(chain.live && { live: chain.live }),
    ...(chain.readBudget && { readBudget: chain.readBudget }),
    ...(chain.warmBudget && { warmBudget: chain.warmBudget }),
  };
}

function deploymentEntry(deployment: Deployment | PackedDeployment, layout: 'flat' | 'packed'): DeploymentInput {
  return {
    contractVersion: 'v1',
    enabled: true,
    layout,
    fromBlock: deployment.fromBlock,
    poolFactory: deployment.poolFactory,
    poolDeployer: deployment.poolDeployer,
    liquidityAdder: deployment.liquidityAdder,
    dataProvider: deployment.dataProvider,
    quoter: deployment.quoter,
    depositAllowlist: deployment.depositAllowlist,
    stopLoss: deployment.stopLoss,
    priceVelocityGuard: deployment.priceVelocityGuard,
    swapAllowlist: deployment.swapAllowlist,
  };
}

function interpretationsOf({
  variant: { rule: _, zeroAmounts: __, ...interpretations },
}: PackedDeployment): DeploymentInput['packed'] {
  return interpretations;
}

function tokenEntry({ chainId, feeds, multiplierOracle }: Scenario, token: ScenarioToken): TokenInput {
  return {
    chainId,
    address: token.address,
    usdPegged: token.usdPegged ?? false,
    feedIds: feeds.filter(({ vouchedFor }) => vouchedFor === token.address).map(({ id }) => id),
    ...(token.symbol === '' ? {} : { logoUrl: `https://cdn.devnet.example/${token.symbol.toLowerCase()}.svg` }),
    ...(token.brandColor === undefined ? {} : { brandColor: token.brandColor }),
    ...(token.tokenizedStock === true ? { multiplierOracle } : {}),
  };
}
