import type { Address } from 'viem';
import type { BinShape } from '../../protocol/pool-events.ts';
import type { Deployment } from '../deploy.ts';
import type { DevChain } from '../dev-chain.ts';
import type { ExtensionSpec } from '../pools.ts';

/** How a pool is priced. Feeds are named as in the market. */
export type ProviderPlan =
  | {
      readonly kind: 'anchored';
      readonly base: string;
      readonly quote?: string;
      readonly mutableParams?: boolean;
      /** Seconds. */
      readonly maxRefStaleness?: bigint;
      /** A custom source that quotes mid -/+ this, millionths. */
      readonly sourceHalfSpreadE6?: bigint;
    }
  | {
      readonly kind: 'regular';
      readonly feed: string;
      /** Fraction E18, signed. */
      readonly marginStep?: bigint;
      /** Seconds: the provider comes from the factory for L2 chains. */
      readonly futureTolerance?: bigint;
    }
  | { readonly kind: 'manual'; readonly halfSpreadE6: bigint };

/** What a pool's finishing steps work with. */
export interface Stage {
  readonly chain: DevChain;
  readonly deployment: Deployment;
  readonly pool: Address;
  /** Raw units of token0 in one funded bin above the cursor, as it was at the start. */
  readonly token0PerBin: bigint;
  readonly feedIdOf: (name: string) => `0x${string}`;
  /** Another provider for the same pair. */
  readonly deployOtherProvider: () => Promise<Address>;
}

/** A pool of the scenario. */
export interface PoolPlan {
  /** Unique: tests and people find the pool by it. */
  readonly name: string;
  /** What there is to see. */
  readonly shows: string;
  /** Symbols of token0 and token1; '' is the nameless token. */
  readonly pair: readonly [string, string];
  readonly provider: ProviderPlan;
  readonly bins: readonly BinShape[];
  /** USD in each bin; 0 leaves the pool empty. */
  readonly usdPerBin: number;
  /** Whether traffic acts on it. */
  readonly busy: boolean;
  /** Traffic trades in it but leaves its settings alone. */
  readonly settled?: boolean;
  readonly extensions?: (deployment: Deployment, chain: DevChain) => readonly ExtensionSpec[];
  /** Seconds; default a day. */
  readonly priceProviderTimelock?: bigint;
  readonly adminNotionalFeeE8?: number;
  /** What happens to it after it was funded. */
  readonly finish?: (stage: Stage) => Promise<void>;
}

export interface ScenarioPool {
  readonly name: string;
  /** What there is to see, for people. */
  readonly shows: string;
  /** Which of the scenario's factories made it. */
  readonly generation: 'flat' | 'packed';
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly priceProvider: Address;
  readonly lowestBin: number;
  readonly highestBin: number;
  /** Whether traffic acts on it. */
  readonly busy: boolean;
  /** Traffic trades in it but leaves its settings alone. */
  readonly settled: boolean;
}
