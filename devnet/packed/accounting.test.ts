import fc from 'fast-check';
import { decodeErrorResult } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addLiquidity, administer, balanceOf, removeLiquidity, sellAndBuyPrices } from '../actions.ts';
import { RevertedError, takenBack } from '../dev-chain.ts';
import { type Action, actionOf } from '../pool-actions.fixture.ts';
import { poolErrors } from '../protocol-abi.ts';
import type { Anvil } from '../services/anvil.ts';
import { administerPacked, packedSimulation, packedSwap } from './actions.ts';
import { expectedWords, liquidityDeltas, type SwapWords, swapWords } from './event-words.fixture.ts';
import { PackedModel } from './model.fixture.ts';
import {
  createPackedPool,
  multipliers,
  type PackedGround,
  type PackedPool,
  type PackedRecipe,
  packedRecipe,
  startPackedGround,
} from './random-pool.fixture.ts';
import { type PackedState, readPackedState, readPositions } from './storage.fixture.ts';
import { PACKED_VARIANTS, type PackedVariant } from './variants.ts';

/** Random pools of each variant, and most actions on each. */
const RUNS = 8;
const MOST_ACTIONS = 12;

const action = actionOf({ swap: 6, liquidity: 1 });

describe.each(PACKED_VARIANTS)('the variant $rule', (variant) => {
  let ground: PackedGround & { readonly anvil: Anvil };

  beforeAll(async () => {
    ground = await startPackedGround(variant);
  });

  afterAll(() => ground.anvil.stop());

  test('keeps its storage, amounts, prices and events as the model does', async () => {
    const actions = fc.array(action, { minLength: 4, maxLength: MOST_ACTIONS });
    let swaps = 0;
    const compare = async (recipe: PackedRecipe, whats: readonly Action[]) => {
      const pool = await createPackedPool(ground, recipe);
      const run = new Comparison(ground, variant, pool);
      await run.expectSameState();
      for (const what of whats) await run.act(what);
      await run.expectSameEvents();
      swaps += run.swaps;
    };
    const property = fc.asyncProperty(packedRecipe, actions, (recipe, whats) =>
      takenBack(ground.chain, () => compare(recipe, whats)),
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    expect(swaps).toBeGreaterThan(RUNS);
  });
});

/** One pool on the chain beside its model. */
class Comparison {
  readonly #ground: PackedGround;
  readonly #variant: PackedVariant;
  readonly #pool: PackedPool;
  readonly #model: PackedModel;
  readonly #expected: SwapWords[] = [];

  constructor(ground: PackedGround, variant: PackedVariant, pool: PackedPool) {
    this.#ground = ground;
    this.#variant = variant;
    this.#pool = pool;
    this.#model = new PackedModel(variant.rule, pool.recipe, pool.provider);
  }

  get swaps(): number {
    return this.#expected.length;
  }

  /** Does an action, and the same on the model when the chain took it. */
  async act(what: Action): Promise<void> {
    try {
      if (what.kind === 'swap') await this.#swap(what);
      else if (what.kind === 'fees') await this.#setFees(what);
      else if (what.kind === 'collect') await this.#collect();
      else await this.#changeLiquidity(what);
    } catch (error) {
      if (!(error instanceof RevertedError)) throw error;
    }
    await this.expectSameState();
  }

  async expectSameState(): Promise<void> {
    const { state } = this.#model;
    const { chain } = this.#ground;
    const { address, token0, token1, recipe } = this.#pool;
    const [multiplier0, multiplier1] = multipliers(recipe);
    const [read, positions, balance0, balance1, prices] = await Promise.all([
      this.#read(),
      readPositions(chain, address, chain.roles.provider, [...state.bins.keys()]),
      balanceOf(chain, token0, address),
      balanceOf(chain, token1, address),
      sellAndBuyPrices(chain, address),
    ]);
    expect(read).toEqual(state);
    expect(positions).toEqual(new Map([...state.bins].map(([bin, { shares }]) => [bin, shares])));
    expect(balance0 * multiplier0).toBeGreaterThanOrEqual(state.total0 + state.notional0);
    expect(balance1 * multiplier1).toBeGreaterThanOrEqual(state.total1 + state.notional1);
    expect(prices).toEqual({ sellX64: this.#model.price(recipe, true), buyX64: this.#model.price(recipe, false) });
  }

  /** Events tell every swap as the variant puts it; where deltas are scaled, they sum up to the bins. */
  async expectSameEvents(): Promise<void> {
    const words = await swapWords(this.#ground, this.#pool.address);
    expect(words).toEqual(this.#expected);
    if (this.#variant.deltaScale !== 'scaled') return;
    const sums = new Map(this.#pool.recipe.bins.map(({ bin }): [number, [bigint, bigint]] => [bin, [0n, 0n]]));
    const book = (bin: number, delta0 = 0n, delta1 = 0n) => {
      const sum = sums.get(bin);
      if (sum === undefined) throw new Error(`an event names the unknown bin ${bin}`);
      sum[0] += delta0;
      sum[1] += delta1;
    };
    for (const { bins } of words) for (const { bin, deltas } of bins) book(Number(bin), ...deltas);
    for (const change of await liquidityDeltas(this.#ground, this.#pool.address)) {
      book(change.bin, change.delta0Scaled, change.delta1Scaled);
    }
    const { bins } = await this.#read();
    expect(sums).toEqual(new Map([...bins].map(([bin, { balance0, balance1 }]) => [bin, [balance0, balance1]])));
  }

  #read(): Promise<PackedState> {
    const bins = this.#pool.recipe.bins.map(({ bin }) => bin);
    return readPackedState(this.#ground.chain, this.#pool.address, bins);
  }

  async #swap({ zeroForOne, exactInput, partE3 }: Extract<Action, { kind: 'swap' }>): Promise<void> {
    const { chain, deployment } = this.#ground;
    const { recipe, address } = this.#pool;
    const { total0, total1 } = this.#model.state;
    const [multiplier0, multiplier1] = multipliers(recipe);
    const whole = exactInput === zeroForOne ? total0 / multiplier0 : total1 / multiplier1;
    const amount = (whole * BigInt(partE3)) / 1_000n + 1n;
    const order = { pool: address, zeroForOne, amountSpecified: exactInput ? amount : -amount };
    const simulated = decodeErrorResult({
      abi: poolErrors,
      data: await packedSimulation(chain, deployment, { ...order, ...recipe }),
    });
    const swapped = await packedSwap(chain, deployment, order);
    expect(simulated).toMatchObject({
      errorName: 'SimulateSwap',
      args: [swapped.amount0Delta, swapped.amount1Delta],
    });
    const expected = this.#model.swap(recipe, zeroForOne, order.amountSpecified);
    expect(swapped).toEqual({ amount0Delta: expected.amount0Delta, amount1Delta: expected.amount1Delta });
    const { bin, position } = this.#model.state;
    const details = { zeroForOne, exactInput, bin, position };
    this.#expected.push(expectedWords(this.#variant, expected, details, [multiplier0, multiplier1]));
  }

  async #changeLiquidity({ kind, bin: index, partE3 }: Extract<Action, { kind: 'add' | 'remove' }>): Promise<void> {
    const { chain, deployment } = this.#ground;
    const { recipe, address: pool } = this.#pool;
    const { bin, shares: all } = recipe.bins[index % recipe.bins.length] ?? { bin: 0, shares: 0n };
    const shares = (all * BigInt(partE3)) / 1_000n + (kind === 'add' ? 1_000n : 0n);
    const order = { pool, owner: chain.roles.provider, bins: [{ bin, shares }] };
    if (kind === 'add') {
      await addLiquidity(chain, deployment, order);
      this.#model.add(bin, shares);
    } else {
      await removeLiquidity(chain, order);
      this.#model.remove(bin, shares);
    }
  }

  async #setFees({ spreadE6, notionalE8, bin: index, addFee }: Extract<Action, { kind: 'fees' }>): Promise<void> {
    const { chain, deployment } = this.#ground;
    const { recipe, address } = this.#pool;
    const { curator } = chain.roles;
    const { bin } = recipe.bins[index % recipe.bins.length] ?? { bin: 0 };
    await administer(chain, deployment, curator, 'setPoolAdminFees', [address, spreadE6, notionalE8]);
    this.#model.setFees(spreadE6, notionalE8);
    const fees = [address, bin, addFee, Math.floor(addFee / 2)] as const;
    await administerPacked(chain, deployment, curator, 'setPoolBinAdditionalFees', fees);
    this.#model.setBinFees(bin, addFee, Math.floor(addFee / 2));
  }

  async #collect(): Promise<void> {
    const { chain, deployment } = this.#ground;
    await administer(chain, deployment, chain.roles.stranger, 'collectPoolFees', [this.#pool.address]);
    this.#model.collect();
  }
}
