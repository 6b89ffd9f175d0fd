import { type Address, numberToHex, parseAbi } from 'viem';
import { Q64 } from '../../protocol/fixed-point.ts';
import { stopLossAdminAbi } from '../abi.ts';
import { addLiquidity, type SwapAmounts } from '../actions.ts';
import type { Anvil } from '../anvil.ts';
import { createPool, type ExtensionSpec, evenBins, type PoolSpec } from '../pools.ts';
import { poolErrors } from '../protocol-abi.ts';
import { type NamedError, refusalsBy } from '../refusals.fixture.ts';
import {
  extensionProviderAbi,
  packedPoolErrors,
  packedStopLossAbi,
  packedVelocityAbi,
  quoteProviderAbi,
} from './abi.ts';
import { packedSimulation, packedSwap } from './actions.ts';
import { deployQuoteProvider, type PackedQuote, type QuoteProviderKind } from './providers.ts';
import { type PackedSetup, startPackedSetup } from './random-pool.fixture.ts';
import type { PackedVariant } from './variants.ts';

export const ONE = 10n ** 18n;

/** Every error that a user of a pool may meet. */
const errors = [
  ...poolErrors,
  ...packedPoolErrors,
  ...quoteProviderAbi,
  ...extensionProviderAbi,
  ...packedStopLossAbi,
  ...stopLossAdminAbi,
  ...packedVelocityAbi,
  ...parseAbi([
    'error OnlyProtocol()',
    'error OnlyPoolAdmin()',
    'error InvalidParameters()',
    'error BidAskRefAsymmetryTooHigh()',
  ]),
];

export const { named, refusalOf } = refusalsBy(errors);

/** A basis point on either side of a reference, in hundredths of token1 per token0. */
export function quoteAround(hundredths: bigint): PackedQuote {
  const referenceX64 = (Q64 * hundredths) / 100n;
  return { bidX64: (referenceX64 * 9_999n) / 10_000n, askX64: (referenceX64 * 10_001n) / 10_000n, referenceX64 };
}

export interface MarketPool {
  readonly pool: Address;
  readonly provider: Address;
}

/** Two tokens of 18 decimals, and pools of them around price 2. */
export class PackedMarket {
  readonly setup: PackedSetup & { readonly anvil: Anvil };
  readonly token0: Address;
  readonly token1: Address;
  #pools = 0;

  private constructor(setup: PackedSetup & { readonly anvil: Anvil }, token0: Address, token1: Address) {
    this.setup = setup;
    this.token0 = token0;
    this.token1 = token1;
  }

  static async open(variant: PackedVariant): Promise<PackedMarket> {
    const setup = await startPackedSetup(variant);
    const [token0, token1] = setup.shelf.get(18) ?? [];
    if (token0 === undefined || token1 === undefined) throw new Error('no tokens of 18 decimals');
    return new PackedMarket(setup, token0, token1);
  }

  deployProvider(kind?: QuoteProviderKind): Promise<Address> {
    const { token0, token1 } = this;
    return deployQuoteProvider(this.setup.chain, this.setup.deployment, { token0, token1, kind }, quoteAround(200n));
  }

  /** What a pool of this market is made with: nine bins of 1%, nothing in them. */
  spec(priceProvider: Address, rest: Partial<PoolSpec> = {}): PoolSpec {
    return {
      token0: this.token0,
      token1: this.token1,
      priceProvider,
      bins: evenBins(-4, 4, 10_000),
      initialAmount0PerShareE18: ONE,
      initialAmount1PerShareE18: 2n * ONE,
      salt: numberToHex(++this.#pools, { size: 32 }),
      ...rest,
    };
  }

  /** A pool with a hundred tokens in each bin, on a provider of this kind, which may be among its extensions. */
  async fundedPool(
    extensionsOf: (provider: Address) => readonly ExtensionSpec[] = () => [],
    kind?: QuoteProviderKind,
    rest: Partial<PoolSpec> = {},
  ): Promise<MarketPool> {
    const { chain, deployment } = this.setup;
    const provider = await this.deployProvider(kind);
    const spec = this.spec(provider, { extensions: extensionsOf(provider), ...rest });
    const pool = await createPool(chain, deployment, spec);
    const bins = spec.bins.map(({ bin }) => ({ bin, shares: 100n * ONE }));
    await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
    return { pool, provider };
  }

  buy({ pool }: MarketPool, output: bigint): Promise<SwapAmounts> {
    const { chain, deployment } = this.setup;
    return packedSwap(chain, deployment, { pool, zeroForOne: false, amountSpecified: -output });
  }

  sell({ pool }: MarketPool, input: bigint): Promise<SwapAmounts> {
    const { chain, deployment } = this.setup;
    return packedSwap(chain, deployment, { pool, zeroForOne: true, amountSpecified: input });
  }

  /** How a simulated sale ends. */
  async simulatedSale(
    { pool }: MarketPool,
    input: bigint,
    options: PackedQuote & { readonly sender?: Address },
  ): Promise<NamedError> {
    const { chain, deployment } = this.setup;
    return named(
      await packedSimulation(chain, deployment, { pool, zeroForOne: true, amountSpecified: input, ...options }),
    );
  }
}
