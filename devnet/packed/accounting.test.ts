import fc from 'fast-check';
import { decodeErrorResult } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ordinaryRecipe } from '../../test/packed/observed-swaps.ts';
import { balanceOf, sellAndBuyPrices } from '../actions.ts';
import type { Anvil } from '../anvil.ts';
import { RevertedError, takenBack } from '../dev-chain.ts';
import { type Action, actionOf } from '../pool-actions.fixture.ts';
import { poolErrors } from '../protocol-abi.ts';
import { packedPoolErrors } from './abi.ts';
import { packedSimulation, packedSwap } from './actions.ts';
import { expectedWords, liquidityDeltas, type SwapWords, swapWords } from './event-words.fixture.ts';
import { PackedModel } from './model.fixture.ts';
import { binFees, liquidityChange, performAction, swapOrder } from './perform-action.fixture.ts';
import {
  createPackedPool,
  multipliers,
  type PackedPool,
  type PackedRecipe,
  type PackedSetup,
  packedRecipe,
  startPackedSetup,
} from './random-pool.fixture.ts';
import { type PackedState, readPackedState, readPositions } from './storage.fixture.ts';
import { PACKED_VARIANTS, type PackedVariant } from './variants.ts';

/** Random pools of each variant, and most actions on each. */
const RUNS = runs(2);
const MAX_ACTIONS = 12;
/** Actions on one pool of each variant, whose bins are compared at the end. */
const MANY_ACTIONS = runs(100);

const action = actionOf({ swap: 6, liquidity: 1 });

describe.each(PACKED_VARIANTS)('the variant $rule', (variant) => {
  let setup: PackedSetup & { readonly anvil: Anvil };

  beforeAll(async () => {
    setup = await startPackedSetup(variant);
  });

  afterAll(() => setup.anvil.stop());

  test('keeps its storage, amounts, prices and events as the model does', async () => {
    const actions = fc.array(action, { minLength: 4, maxLength: MAX_ACTIONS });
    let swaps = 0;
    const compare = async (recipe: PackedRecipe, whats: readonly Action[]) => {
      const pool = await createPackedPool(setup, recipe);
      const run = new Comparison(setup, variant, pool);
      await run.expectSameState();
      for (const what of whats) await run.act(what);
      await run.expectSameEvents();
      swaps += run.swaps;
    };
    const property = fc.asyncProperty(packedRecipe, actions, (recipe, whats) =>
      takenBack(setup.chain, () => compare(recipe, whats)),
    );
    await assertUntil(() => swaps > RUNS, property, { numRuns: RUNS, endOnFailure: true });
  });

  test('keeps bins that are what its events sum up to after many actions', async () => {
    const pool = await createPackedPool(setup, ordinaryRecipe(6, 18));
    const bins = pool.recipe.bins.map(({ bin }) => bin);
    const { total0, total1 } = await readPackedState(setup.chain, pool.address, bins);
    const totals = { total0: total0 / 4n, total1: total1 / 4n };
    let taken = 0;
    const property = fc.asyncProperty(action, (what) =>
      performAction(setup, pool, what, totals).then(() => {
        if (what.kind === 'swap') taken += 1;
      }, unlessReverted),
    );
    await assertUntil(() => taken > MANY_ACTIONS / 2, property, { numRuns: MANY_ACTIONS, endOnFailure: true });
    const { swaps, summed } = await summedBins(setup, pool);
    expect(swaps).toBe(taken);
    const units = variant.deltaScale === 'scaled' ? ([1n, 1n] as const) : ([10n ** 12n, 1n] as const);
    const stored = await readPackedState(setup.chain, pool.address, bins);
    for (const { bin, liquidityScaled, swapDeltas } of summed) {
      const { balance0, balance1 } = stored.bins.get(bin) ?? {};
      for (const [token, balance] of [balance0, balance1].entries()) {
        const [liquidity = 0n, delta = 0n, unit = 0n] = [liquidityScaled[token], swapDeltas[token], units[token]];
        const off = liquidity + delta * unit - (balance ?? -1n);
        // Each swap may have rounded its delta of a bin by less than a unit.
        expect(off < 0n ? -off : off).toBeLessThanOrEqual((unit - 1n) * BigInt(swaps));
      }
    }
  });
});

function unlessReverted(error: unknown): void {
  if (!(error instanceof RevertedError)) throw error;
}

/** What all events of a pool say of its bins. */
async function summedBins(setup: PackedSetup, { address, recipe }: PackedPool) {
  const words = await swapWords(setup, address);
  const changes = await liquidityDeltas(setup, address);
  const sum = (deltas: readonly (readonly [bigint, bigint])[]) =>
    deltas.reduce(([a0, a1], [b0, b1]) => [a0 + b0, a1 + b1] as const, [0n, 0n] as const);
  const summed = recipe.bins.map(({ bin }) => ({
    bin,
    liquidityScaled: sum(
      changes
        .filter((change) => change.bin === bin)
        .map(({ delta0Scaled = 0n, delta1Scaled = 0n }) => [delta0Scaled, delta1Scaled]),
    ),
    swapDeltas: sum(
      words.flatMap(({ bins }) => bins.filter((part) => Number(part.bin) === bin).map(({ deltas }) => deltas)),
    ),
  }));
  return { swaps: words.length, summed };
}

/** One pool on the chain beside its model. */
class Comparison {
  readonly #setup: PackedSetup;
  readonly #variant: PackedVariant;
  readonly #pool: PackedPool;
  readonly #model: PackedModel;
  readonly #expected: SwapWords[] = [];

  constructor(setup: PackedSetup, variant: PackedVariant, pool: PackedPool) {
    this.#setup = setup;
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
      else {
        await performAction(this.#setup, this.#pool, what, this.#model.state);
        this.#follow(what);
      }
    } catch (error) {
      if (!(error instanceof RevertedError)) throw error;
    }
    await this.expectSameState();
  }

  async expectSameState(): Promise<void> {
    const { state } = this.#model;
    const { chain } = this.#setup;
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

  /** Events report every swap as the variant puts it; where deltas are scaled, they sum up to the bins. */
  async expectSameEvents(): Promise<void> {
    const words = await swapWords(this.#setup, this.#pool.address);
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
    for (const change of await liquidityDeltas(this.#setup, this.#pool.address)) {
      book(change.bin, change.delta0Scaled, change.delta1Scaled);
    }
    const { bins } = await this.#read();
    expect(sums).toEqual(new Map([...bins].map(([bin, { balance0, balance1 }]) => [bin, [balance0, balance1]])));
  }

  #read(): Promise<PackedState> {
    const bins = this.#pool.recipe.bins.map(({ bin }) => bin);
    return readPackedState(this.#setup.chain, this.#pool.address, bins);
  }

  async #swap(what: Extract<Action, { kind: 'swap' }>): Promise<void> {
    const { chain, deployment } = this.#setup;
    const { recipe } = this.#pool;
    const order = swapOrder(this.#pool, what, this.#model.state);
    const simulated = decodeErrorResult({
      abi: [...poolErrors, ...packedPoolErrors],
      data: await packedSimulation(chain, deployment, { ...order, ...recipe }),
    });
    const { amountSpecified } = order;
    if (simulated.errorName === 'FinalAmountIsZero') {
      expect(this.#variant.zeroAmounts).toBe('revert');
      const { amount0Delta, amount1Delta } = this.#model.trySwap(recipe, what.zeroForOne, amountSpecified);
      expect(amount0Delta * amount1Delta).toBe(0n);
      await expect(packedSwap(chain, deployment, order)).rejects.toThrow(RevertedError);
      return;
    }
    const swapped = await packedSwap(chain, deployment, order);
    expect(simulated).toMatchObject({
      errorName: 'SimulateSwap',
      args: [swapped.amount0Delta, swapped.amount1Delta],
    });
    const { zeroForOne, exactInput } = what;
    const expected = this.#model.swap(recipe, zeroForOne, amountSpecified);
    if (this.#variant.zeroAmounts === 'revert') expect(expected.amount0Delta * expected.amount1Delta).not.toBe(0n);
    expect(swapped).toEqual({ amount0Delta: expected.amount0Delta, amount1Delta: expected.amount1Delta });
    const { bin, position } = this.#model.state;
    const details = { zeroForOne, exactInput, bin, position };
    this.#expected.push(expectedWords(this.#variant, expected, details, multipliers(recipe)));
  }

  /** What the model does when the chain took an action that is no swap. */
  #follow(what: Exclude<Action, { kind: 'swap' }>): void {
    if (what.kind === 'collect') this.#model.collect();
    else if (what.kind === 'fees') {
      const { bin, buy, sell } = binFees(this.#pool, what);
      this.#model.setFees(what.spreadE6, what.notionalE8);
      this.#model.setBinFees(bin, buy, sell);
    } else {
      const { bin, shares } = liquidityChange(this.#pool, what);
      if (what.kind === 'add') this.#model.add(bin, shares);
      else this.#model.remove(bin, shares);
    }
  }
}
