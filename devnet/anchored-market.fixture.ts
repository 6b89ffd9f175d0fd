import { type Address, type Hex, parseAbi } from 'viem';
import { Q64 } from '../protocol/fixed-point.ts';
import { oracleAbi } from './abi.ts';
import { addLiquidity, deployToken, fundAccounts, type SwapAmounts, simulateSwap, swap } from './actions.ts';
import { type Setup, startSetup } from './contracts.fixture.ts';
import { createPool, type ExtensionSpec, evenBins, type PoolSpec } from './pools.ts';
import { flatPoolAbi, priceVelocityGuardAbi, providerAbi, stopLossAbi } from './protocol-abi.ts';
import { deployAnchoredProvider, feedId, setFeedPrice } from './providers.ts';
import { refusalsBy } from './refusals.fixture.ts';

/** Every error that a user of a pool may meet. */
export const errors = [
  ...flatPoolAbi,
  ...stopLossAbi,
  ...priceVelocityGuardAbi,
  ...providerAbi,
  ...oracleAbi,
  ...parseAbi([
    'error NotAllowedToDeposit()',
    'error ProviderIsImmutable()',
    'error TimelockNotOver(uint256 executeAfter)',
    'error OnlyPoolAdmin()',
    'error WrongPauseLevel(uint8 level)',
  ]),
];

export const ONE = 10n ** 18n;
export const FEED = feedId('TEST/USD');

export const { named, refusalOf } = refusalsBy(errors);

/** Two tokens of 18 decimals, and pools of them on anchored providers of one feed. */
export class AnchoredMarket {
  readonly setup: Setup;
  readonly token0: Address;
  readonly token1: Address;
  #pools = 0;

  private constructor(setup: Setup, token0: Address, token1: Address) {
    this.setup = setup;
    this.token0 = token0;
    this.token1 = token1;
  }

  static async open(): Promise<AnchoredMarket> {
    const setup = await startSetup();
    const { chain, deployment } = setup;
    const { trader, provider, untrusted } = chain.roles;
    const token0 = await deployToken(chain, { name: 'Zero', symbol: 'ZERO', decimals: 18 });
    const token1 = await deployToken(chain, { name: 'One', symbol: 'ONE', decimals: 18 });
    for (const token of [token0, token1]) {
      await fundAccounts(chain, deployment, token, { accounts: [trader, provider, untrusted], amount: ONE ** 2n });
    }
    return new AnchoredMarket(setup, token0, token1);
  }

  /** A pool around price 2 on this provider, nine bins of 1%, nothing in them. */
  createPool(spec: Pick<PoolSpec, 'priceProvider'> & Partial<PoolSpec>): Promise<Address> {
    const salt: Hex = `0x${(++this.#pools).toString(16).padStart(64, '0')}`;
    const amounts = { initialAmount0PerShareE18: ONE, initialAmount1PerShareE18: 2n * ONE };
    const { token0, token1 } = this;
    const { chain, deployment } = this.setup;
    return createPool(chain, deployment, { token0, token1, bins: evenBins(-4, 4, 10_000), ...amounts, ...spec, salt });
  }

  /** A pool on an anchored provider with a hundred tokens in every bin. */
  async fundedPool(extensions: readonly ExtensionSpec[] = [], spec: Partial<PoolSpec> = {}) {
    const { chain, deployment } = this.setup;
    await this.movePrice(2n * Q64);
    const provider = await this.deployProvider();
    const pool = await this.createPool({ priceProvider: provider, extensions, ...spec });
    const bins = evenBins(-4, 4, 0).map(({ bin }) => ({ bin, shares: 100n * ONE }));
    await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
    return { pool, provider };
  }

  deployProvider(): Promise<Address> {
    const { token0, token1 } = this;
    return deployAnchoredProvider(this.setup.chain, this.setup.deployment, { token0, token1, baseFeedId: FEED });
  }

  buy(pool: Address, amount: bigint): Promise<SwapAmounts> {
    return swap(this.setup.chain, this.setup.deployment, { pool, zeroForOne: false, amountSpecified: -amount });
  }

  sell(pool: Address, amount: bigint): Promise<SwapAmounts> {
    return swap(this.setup.chain, this.setup.deployment, { pool, zeroForOne: true, amountSpecified: amount });
  }

  /** Simulates at the provider's quote for this price, with the default spread and margin. */
  async simulated(pool: Address, zeroForOne: boolean, amountSpecified: bigint, priceX64 = 2n * Q64) {
    const bidX64 = (priceX64 * 9_998n) / 10_000n;
    const askX64 = (priceX64 * 10_002n) / 10_000n;
    return named(await simulateSwap(this.setup.chain, { pool, zeroForOne, amountSpecified, bidX64, askX64 }));
  }

  movePrice(priceX64: bigint): Promise<void> {
    return setFeedPrice(this.setup.chain, this.setup.deployment, { feedId: FEED, priceX64 });
  }
}
