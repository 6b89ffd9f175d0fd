import type { ChainsFile, DeploymentConfig, TokenConfig } from '../../config/chains-schema.ts';

/** The chains file, indexed for the scheduled work. */
export type OperatorRegistry = {
  /** The enabled deployment that a factory belongs to, with the name of its chain. */
  readonly deploymentOf: (chainId: number, factory: string) => ListedDeployment | undefined;
  /** All tokens that the operator configured. */
  readonly tokens: readonly TokenConfig[];
  readonly token: (chainId: number, address: string) => TokenConfig | undefined;
  /** True for an oracle that is configured as the multiplier oracle of any token of the chain. */
  readonly isMultiplierOracle: (chainId: number, oracle: string) => boolean;
};

type ListedDeployment = DeploymentConfig & { readonly chain: string };

export function createRegistry({ chains, tokens }: ChainsFile): OperatorRegistry {
  const keyOf = (chainId: number, address: string) => `${chainId}:${address}`;
  const deployments = new Map(
    chains.flatMap(({ chainId, name, deployments: all }) =>
      all
        .filter(({ enabled }) => enabled)
        .map((deployment) => [keyOf(chainId, deployment.poolFactory), { ...deployment, chain: name }] as const),
    ),
  );
  const tokensByKey = new Map(tokens.map((token) => [keyOf(token.chainId, token.address), token]));
  const oracles = new Set(tokens.map(({ chainId, multiplierOracle }) => keyOf(chainId, multiplierOracle ?? '')));
  return {
    deploymentOf: (chainId, factory) => deployments.get(keyOf(chainId, factory)),
    tokens,
    token: (chainId, address) => tokensByKey.get(keyOf(chainId, address)),
    isMultiplierOracle: (chainId, oracle) => oracles.has(keyOf(chainId, oracle)),
  };
}
