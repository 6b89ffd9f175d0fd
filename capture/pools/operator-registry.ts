import type { ChainsFile, DeploymentConfig, TokenConfig } from '../../config/chains-schema.ts';

/** The chains file, indexed for the scheduled work. */
export type OperatorRegistry = {
  readonly chainName: (chainId: number) => string | undefined;
  /** The enabled deployment that a factory belongs to. */
  readonly deploymentOf: (chainId: number, factory: string) => DeploymentConfig | undefined;
  /** All that the operator knows. */
  readonly tokens: readonly TokenConfig[];
  readonly token: (chainId: number, address: string) => TokenConfig | undefined;
  /** True for an oracle that is configured as the multiplier oracle of any token of the chain. */
  readonly isMultiplierOracle: (chainId: number, oracle: string) => boolean;
};

export function createRegistry({ chains, tokens }: ChainsFile): OperatorRegistry {
  const keyOf = (chainId: number, address: string) => `${chainId}:${address}`;
  const names = new Map(chains.map(({ chainId, name }) => [chainId, name]));
  const deployments = new Map<string, DeploymentConfig>();
  for (const { chainId, deployments: all } of chains) {
    for (const deployment of all) {
      if (deployment.enabled) deployments.set(keyOf(chainId, deployment.poolFactory), deployment);
    }
  }
  const tokensByKey = new Map(tokens.map((token) => [keyOf(token.chainId, token.address), token]));
  const oracles = new Set(
    tokens.flatMap(({ chainId, multiplierOracle }) => (multiplierOracle ? [keyOf(chainId, multiplierOracle)] : [])),
  );
  return {
    chainName: (chainId) => names.get(chainId),
    deploymentOf: (chainId, factory) => deployments.get(keyOf(chainId, factory)),
    tokens,
    token: (chainId, address) => tokensByKey.get(keyOf(chainId, address)),
    isMultiplierOracle: (chainId, oracle) => oracles.has(keyOf(chainId, oracle)),
  };
}
