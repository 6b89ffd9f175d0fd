import { type Address, encodeFunctionData, numberToHex } from 'viem';
import type { z } from 'zod';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { addLiquidity, administer, removeLiquidity } from '../../devnet/actions.ts';
import { type DevChain, RevertedError, send } from '../../devnet/dev-chain.ts';
import { packedVelocityAbi } from '../../devnet/packed/abi.ts';
import { administerPacked, packedSwap } from '../../devnet/packed/actions.ts';
import { deployPackedProtocol, type PackedDeployment, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import { createPackedPool, type PackedPool, type PackedSetup } from '../../devnet/packed/random-pool.fixture.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins, velocityExtension } from '../../devnet/pools.ts';
import { stockTokens } from '../../devnet/random-pool.ts';
import { ordinaryRecipe } from '../packed/observed-swaps.ts';

type DeploymentInput = z.input<typeof ChainsFile>['chains'][number]['deployments'][number];

/** Settings of the one pool that has a stop loss and a velocity guard. */
export const GUARDS = { drawdownE6: 20_000, decayPerSecondE18: 123_456_789n, timelockSecs: 86_400 } as const;
export const MAX_CHANGE_E18 = 10n ** 16n;

/** Words of swaps read one way and the other: deltas scaled, or raw. */
const VARIANTS = [packedVariant('sumOnEdges'), packedVariant('productOnEdges')];

/** Packed pools of two variants, each with a factory of its own, and what is done with them. */
export class PackedMarket {
  readonly setups: readonly PackedSetup[];
  readonly #traded: { readonly setup: PackedSetup; readonly pool: PackedPool }[] = [];
  #actions = 0;

  private constructor(setups: readonly PackedSetup[]) {
    this.setups = setups;
  }

  static async open(chain: DevChain): Promise<PackedMarket> {
    const setups: PackedSetup[] = [];
    for (const variant of VARIANTS) {
      const deployment = await deployPackedProtocol(chain, variant);
      setups.push({ chain, deployment, shelf: await stockTokens(chain, deployment) });
    }
    return new PackedMarket(setups);
  }

  /** A funded pool of each variant. The decimals make raw and scaled units differ. */
  async openPools(): Promise<void> {
    for (const setup of this.setups) {
      this.#traded.push({ setup, pool: await createPackedPool(setup, ordinaryRecipe(6, 18)) });
    }
  }

  /** A pool of the first variant with both guards, in which nobody trades. */
  async openGuardedPool(): Promise<{ readonly pool: Address; readonly deployment: PackedDeployment }> {
    const [setup] = this.setups;
    const [token0, token1] = setup?.shelf.get(18) ?? [];
    if (setup === undefined || token0 === undefined || token1 === undefined) throw new Error('no ground');
    const { chain, deployment } = setup;
    const one = 1n << 64n;
    const quote = { bidX64: one, askX64: one, referenceX64: one };
    const priceProvider = await deployQuoteProvider(chain, deployment, { token0, token1 }, quote);
    const pool = await createPool(chain, deployment, {
      token0,
      token1,
      priceProvider,
      bins: evenBins(-2, 2, 1_000),
      salt: numberToHex(1, { size: 32 }),
      initialAmount0PerShareE18: one,
      initialAmount1PerShareE18: one,
      extensions: [packedStopLossExtension(deployment, GUARDS), velocityExtension(deployment, MAX_CHANGE_E18)],
    });
    const bins = [-1, 0, 1].map((bin) => ({ bin, shares: 10n ** 18n }));
    await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
    return { pool: pool.toLowerCase() as Address, deployment };
  }

  /** Sets the price from which a velocity guard counts: one far from the provider's closes both sides. */
  async moveAnchor(
    { pool, deployment }: { readonly pool: Address; readonly deployment: PackedDeployment },
    priceX64: bigint,
  ): Promise<void> {
    const [setup] = this.setups;
    if (setup === undefined) throw new Error('no ground');
    const data = encodeFunctionData({
      abi: packedVelocityAbi,
      functionName: 'setAnchorMidPrice',
      args: [pool, priceX64],
    });
    const from = setup.chain.roles.curator;
    await send(setup.chain, { from, to: deployment.priceVelocityGuard, data });
  }

  /**
   * Does something with every pool, in turn: mostly swaps of both kinds and directions, now and then something else.
   */
  async act(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      this.#actions += 1;
      for (const { setup, pool } of this.#traded) {
        await this.#actOn(setup, pool, this.#actions).catch((error) => {
          if (!(error instanceof RevertedError)) throw error;
        });
      }
    }
  }

  async #actOn({ chain, deployment }: PackedSetup, { address: pool, recipe }: PackedPool, n: number): Promise<void> {
    const { bin, shares } = recipe.bins[n % recipe.bins.length] ?? { bin: 0, shares: 0n };
    const { provider: owner, curator, untrusted } = chain.roles;
    if (n % 7 === 3) return addLiquidity(chain, deployment, { pool, owner, bins: [{ bin, shares: shares / 5n + 7n }] });
    if (n % 7 === 5) return removeLiquidity(chain, { pool, owner, bins: [{ bin, shares: shares / 9n + 1n }] });
    if (n % 9 === 4)
      return administer(chain, deployment, { from: untrusted, functionName: 'collectPoolFees', args: [pool] });
    if (n % 11 === 2) {
      await administerPacked(chain, deployment, {
        from: curator,
        functionName: 'setPoolBidAskRefAsymmetryX8',
        args: [pool, n],
      });
      return administerPacked(chain, deployment, {
        from: curator,
        functionName: 'setPoolBinAdditionalFees',
        args: [pool, bin, n, 2 * n],
      });
    }
    const zeroForOne = n % 2 === 0;
    const exactInput = n % 4 < 2;
    // Of token0, with 6 decimals, or token1, with 18: bins hold a hundred token0 or what they are worth,
    // so that some are crossed.
    const unit = zeroForOne === exactInput ? 10n ** 6n : 10n ** 18n;
    const amount = unit * BigInt(17 + 37 * (n % 5));
    await packedSwap(chain, deployment, { pool, zeroForOne, amountSpecified: exactInput ? amount : -amount });
  }

  /** As deployments of the chains file. */
  deployments(): DeploymentInput[] {
    return this.setups.map(({ deployment: { fromBlock, poolFactory, stopLoss, priceVelocityGuard } }) => ({
      contractVersion: 'v1',
      enabled: true,
      layout: 'packed',
      fromBlock,
      poolFactory,
      stopLoss,
      priceVelocityGuard,
    }));
  }
}
