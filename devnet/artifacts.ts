import { type Artifact, readContracts } from './build-contracts.ts';

/** Contracts that the devnet deploys. */
export type ContractName =
  | 'AnchoredProvider'
  | 'AnchoredProviderFactory'
  | 'AskedDelegator'
  | 'BinsElsewhere'
  | 'Bytes32Token'
  | 'Chained'
  | 'ChoosingDelegator'
  | 'ComputingDelegator'
  | 'DataProvider'
  | 'Decoy'
  | 'DepositAllowlist'
  | 'ExtensionQuoteProvider'
  | 'GasHog'
  | 'HostileProvider'
  | 'HostileToken'
  | 'ImmutableDelegator'
  | 'JumpingDelegator'
  | 'LinkedCurve'
  | 'LinkedPackedPool'
  | 'LinksLibraries'
  | 'LiquidityAdder'
  | 'ManualProvider'
  | 'Multicall3'
  | 'NamelessToken'
  | 'OpenQuoteProvider'
  | 'Oracle'
  | 'PackedDataProvider'
  | 'PackedPool'
  | 'PackedPoolDeployer'
  | 'PackedPoolFactory'
  | 'PackedPoolOfSender'
  | 'PackedStopLoss'
  | 'PackedVelocityGuard'
  | 'Pool'
  | 'PoolDeployer'
  | 'PoolFactory'
  | 'PriceRegistry'
  | 'PriceVelocityGuard'
  | 'QuoteProvider'
  | 'RegistryProvider'
  | 'RegularL2ProviderFactory'
  | 'RegularProvider'
  | 'RegularProviderFactory'
  | 'RemovalLog'
  | 'RestrictedToken'
  | 'StopLoss'
  | 'StopLossBidAsk'
  | 'StoredDelegator'
  | 'SwapAllowlist'
  | 'SwapCap'
  | 'SwapQuoter'
  | 'SwapRouter'
  | 'Token'
  | 'SwitchableProvider'
  | 'SwitchableToken'
  | 'V0PoolFactory';

let artifacts: Readonly<Record<string, Artifact>> | undefined;

/** ABI and code of a devnet contract, as it was compiled. */
export function loadArtifact(name: ContractName): Artifact {
  artifacts ??= readContracts().artifacts;
  const artifact = artifacts[name];
  if (artifact === undefined) throw new Error(`no contract ${name} in devnet/contracts`);
  return artifact;
}
