import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import { completeChain } from '../../db/complete-chain.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { EXTENSION_ROLES } from '../../protocol/layouts/contract-roles.ts';
import type { PoolImmutables } from '../../protocol/pool-state.ts';
import { type Calibration, factoryKey, type PoolRow } from './catalog-rows.ts';
import type { ExtensionKind, PoolExtension, PoolToken, ServedPool } from './pool-directory.ts';

const NO_EXTENSIONS: readonly PoolExtension[] = [];

/** Makes served pools from the rows of a chain. Pools with equal tokens or immutables share these objects. */
export class PoolMaker {
  readonly #chain: ChainConfig;
  /** Enabled deployments, by factory, with what was found. */
  #deployments: ReadonlyMap<Address, DeploymentConfig> = new Map();
  #found: Calibration['found'] | null = null;
  readonly #tokens = new Map<string, PoolToken>();
  readonly #immutables = new Map<string, PoolImmutables>();

  constructor(chain: ChainConfig) {
    this.#chain = chain;
  }

  /** @returns null for a pool of a factory that is not served */
  make(row: PoolRow, { unreadable, stopLossMarks, found }: Calibration): ServedPool | null {
    const { chainId } = this.#chain;
    const deployment = this.#deploymentsWith(found).get(row.factory);
    const key = factoryKey(chainId, row.factory);
    if (!deployment || unreadable.has(key)) return null;
    const { contractVersion, layout } = deployment;
    return {
      chainId,
      address: row.address,
      contractVersion,
      layout,
      token0: this.#token(row.token0, row.symbol0, row.decimals0),
      token1: this.#token(row.token1, row.symbol1, row.decimals1),
      pair: row.pair,
      immutables: this.#immutablesOf(row),
      // The largest timelock means that the provider can never change.
      immutableProvider: BigInt(row.timelockSecs) === MAX_UINT256 ? row.priceProvider : null,
      extensions:
        row.extensions?.map((extension) => ({ ...extension, kind: kindOf(extension.address, deployment) })) ??
        NO_EXTENSIONS,
      stopLossMark: deployment.stopLossMark ?? layoutAdapter(layout).stopLoss.mark ?? stopLossMarks.get(key) ?? null,
      router: deployment.router ?? null,
    };
  }

  #deploymentsWith(found: Calibration['found']): ReadonlyMap<Address, DeploymentConfig> {
    if (found !== this.#found) {
      const enabled = completeChain(this.#chain, found).deployments.filter((deployment) => deployment.enabled);
      this.#deployments = new Map(enabled.map((deployment) => [deployment.poolFactory, deployment]));
      this.#found = found;
    }
    return this.#deployments;
  }

  #token(address: Address, symbol: string | null, decimals: number | null): PoolToken {
    return shared(this.#tokens, `${address}:${decimals}:${symbol}`, () => ({ address, symbol, decimals }));
  }

  #immutablesOf({ lowestBin, highestBin, multiplier0, multiplier1 }: PoolRow): PoolImmutables {
    return shared(this.#immutables, `${lowestBin}:${highestBin}:${multiplier0}:${multiplier1}`, () => ({
      lowestBin,
      highestBin,
      scale: { multiplier0: BigInt(multiplier0), multiplier1: BigInt(multiplier1) },
    }));
  }
}

function shared<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

function kindOf(address: Address, deployment: DeploymentConfig): ExtensionKind {
  return EXTENSION_ROLES.find((kind) => deployment[kind] === address) ?? 'custom';
}
