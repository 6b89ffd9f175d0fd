import fc from 'fast-check';
import type { Address, Hex, StateOverride } from 'viem';
import { describe, expect, test } from 'vitest';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { RevertedError, staticCall, takenBack } from '../../devnet/dev-chain.ts';
import { packedSimulation as simulateOnChain } from '../../devnet/packed/actions.ts';
import { packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { type MarketPool, ONE, PackedMarket, quoteAround } from '../../devnet/packed/market.fixture.ts';
import { setQuote } from '../../devnet/packed/providers.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { PoolCurve, PoolSide, SwapAmounts } from '../../protocol/curve.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { decodeExtsload, encodeExtsload } from '../../protocol/layouts/extsload.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { packedAdapter } from '../../protocol/layouts/packed/adapter.ts';
import { fitSide } from '../../protocol/layouts/packed/fit.ts';
import { furtherProbes, planFit } from '../../protocol/layouts/packed/fit-plan.ts';
import { FEE_FORMULAS, formulaCurve } from '../../protocol/layouts/packed/formulas.ts';
import { packedSimulation } from '../../protocol/layouts/packed/simulation.ts';
import { packedStorage } from '../../protocol/layouts/packed/storage.ts';
import { walkedSide } from '../../protocol/layouts/packed/walk-plan.ts';
import { poolCurve } from '../../protocol/layouts/pool-side.ts';
import type { Sides } from '../../protocol/layouts/side-curve.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import {
  decodeWalk,
  encodeWalk,
  type SideWalk,
  type WalkRecord,
} from '../../protocol/simulated-walk/simulated-walk.ts';
import { openWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { runWalk } from './run-walk.ts';

/** Random pools of each variant, besides those that certainly have each kind of side. */
const RUNS = runs(4);
const IMMUTABLES = { lowestBin: -4, highestBin: 4, scale: tokenScale(18, 18) };
const PARTS = [3n, 20n, 45n, 55n, 80n, 100n];
/** Of a call without limits of the node. */
const CALL_GAS = 29_000_000n;

const SETTINGS = { drawdownE6: 20_000, decayPerSecondE18: 0n, timelockSecs: 60 };

const trade = fc.record({ sells: fc.boolean(), tokens: fc.integer({ min: 1, max: 260 }) });
const story = fc.record({
  drawdownE6: fc.constantFrom(200, 2_000, 10_000, 30_000),
  decayPerSecondE18: fc.constantFrom(0n, 10n ** 12n, 10n ** 14n),
  before: fc.array(trade, { minLength: 1, maxLength: 4 }),
  hundredths: fc.integer({ min: 192, max: 208 }),
  after: fc.array(trade, { maxLength: 2 }),
  last: fc.integer({ min: 196, max: 204 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** Without decay, whatever the time: it cuts the bids of the first, closes the asks; of the second, the bids alone. */
const CUTS: readonly Story[] = [
  {
    drawdownE6: 200,
    decayPerSecondE18: 0n,
    before: [
      { sells: false, tokens: 23 },
      { sells: false, tokens: 95 },
      { sells: true, tokens: 16 },
      { sells: true, tokens: 121 },
    ],
    hundredths: 207,
    after: [{ sells: false, tokens: 90 }],
    last: 201,
  },
  {
    drawdownE6: 200,
    decayPerSecondE18: 0n,
    before: [{ sells: false, tokens: 9 }],
    hundredths: 198,
    after: [{ sells: true, tokens: 178 }],
    last: 204,
  },
];

const variants = PACKED_VARIANTS.filter(({ rule }) =>
  ['older', 'productOnEdges', 'quotient', 'growing'].includes(rule),
);

describe.each(variants)('a stop loss of pools that charge by the rule $rule', (variant) => {
  const world = openWorld(async (ends) => ({
    market: ends.adopt(await PackedMarket.open(variant), ({ setup }) => setup.anvil.stop()),
  }));

  test('lets every amount fill up to the end that its state shows', async () => {
    const seen = { open: 0, cut: 0, closed: 0, certain: 0 };
    const property = fc.asyncProperty(story, fc.nat(), (drawn, draw) =>
      takenBack(world.market.setup.chain, async () => {
        const { pool, hundredths } = await live(drawn);
        const priced = await read(pool, hundredths);
        const curve = await curveOf(pool, priced, draw);
        const state = await stopLossOf(pool);
        for (const side of [curve.bids, curve.asks]) {
          const limit = side.stopLossLimit('bidAsk', state);
          seen[limit === null ? 'open' : limit.most === 0n ? 'closed' : 'cut'] += 1;
          const filled = limit && limit.most > 0n ? await answerTo(pool, priced, side, limit.most) : undefined;
          const levels = limit ? side.levelsWithin({ ...limit, filled }) : side.levels;
          if (limit?.most !== 0n) await expectFills(pool, priced, side, levels);
          const beyond = limit?.beyond ?? null;
          if (beyond === null || beyond === side.levels.at(-1)?.cumulativeInput) continue;
          seen.certain += 1;
          const [record] = await simulated(pool, priced, side, [beyond]);
          expect(record?.fill).toBeNull();
        }
      }),
    );
    await fc.assert(property, { numRuns: CUTS.length + RUNS, examples: CUTS.map((example) => [example, 0]) });
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  test('ends a walk at the last edge that it lets fill', async () => {
    const seen = { open: 0, cut: 0, closed: 0 };
    const property = fc.asyncProperty(story, (drawn) =>
      takenBack(world.market.setup.chain, async () => {
        const { pool, hundredths } = await live(drawn);
        const priced = await read(pool, hundredths);
        const { curve } = await walkOf(pool, priced);
        for (const { zeroForOne, levels } of [curve.bids, curve.asks]) {
          const side = walkedSide(requestOf(pool, priced), zeroForOne);
          const inputs = [...new Set(levels.map(({ cumulativeInput }) => cumulativeInput))].filter(
            (input) => input > 0n,
          );
          const records = await simulated(pool, priced, { zeroForOne }, inputs);
          const shown = new Map(levels.map((level) => [level.cumulativeInput, level.cumulativeOutput]));
          for (const record of records) {
            const given = amountsOf(record, zeroForOne)?.amountOut ?? 0n;
            const level = shown.get(record.amount) ?? -1n;
            // What exact outputs told is shown a unit lower; an edge that had to be searched, by a hundred-thousandth.
            const lower = 1n + (variant.rule === 'older' ? given / 100_000n : 0n);
            expect(given).toBeGreaterThanOrEqual(level);
            expect(given - lower).toBeLessThanOrEqual(level);
          }
          const isWhole = levels.length === side.edges.length;
          seen[isWhole ? 'open' : levels.length > 0 ? 'cut' : 'closed'] += 1;
          if (isWhole) continue;
          const [beyond] = await simulated(pool, priced, { zeroForOne }, [-(side.edges[levels.length] ?? 0n)]);
          expect(beyond?.fill).toBeNull();
        }
      }),
    );
    await fc.assert(property, { numRuns: CUTS.length + RUNS, examples: CUTS.map((example) => [example]) });
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  test('that burns all the gas it gets closes a walk after a call a side', async () => {
    const pool = await world.market.fundedPool(() => [
      packedStopLossExtension(world.market.setup.deployment, SETTINGS),
    ]);
    const priced = await read(pool, 200n);
    const hog = [{ address: world.market.setup.deployment.stopLoss, code: loadArtifact('GasHog').deployedBytecode }];
    const { curve, calls } = await walkOf(pool, priced, hog);
    const given = [curve.bids, curve.asks].map(({ levels }) => levels.at(-1)?.cumulativeOutput ?? 0n);
    expect([given, calls]).toEqual([[0n, 0n], 2]);
  });

  const requestOf = ({ pool }: MarketPool, priced: PricedPool) => ({
    pool,
    priced,
    form: variant.simulation,
    isGuarded: true,
    silenced: [],
  });

  const walkOf = (pool: MarketPool, priced: PricedPool, stateOverride: StateOverride = []) => {
    const prices = { sellX64: priced.quote.bidX64, buyX64: priced.quote.askX64 };
    return runWalk(world.market.setup.chain, requestOf(pool, priced), prices, stateOverride, CALL_GAS);
  };

  /** A pool that has traded at changing prices; what the stop loss refused is left out. */
  async function live(drawn: Story) {
    const { drawdownE6, decayPerSecondE18, before, after, hundredths, last } = drawn;
    const settings = { drawdownE6, decayPerSecondE18, timelockSecs: 2 ** 33 };
    const pool = await world.market.fundedPool(() => [
      packedStopLossExtension(world.market.setup.deployment, settings),
    ]);
    const swaps = async (trades: typeof before) => {
      for (const { sells, tokens } of trades) {
        const swapped = sells
          ? world.market.sell(pool, BigInt(tokens) * ONE)
          : world.market.buy(pool, BigInt(tokens) * ONE);
        await swapped.catch((error) => {
          if (!(error instanceof RevertedError)) throw error;
        });
      }
    };
    await swaps(before);
    await setQuote(world.market.setup.chain, pool.provider, quoteAround(BigInt(hundredths)));
    await swaps(after);
    await setQuote(world.market.setup.chain, pool.provider, quoteAround(BigInt(last)));
    return { pool, hundredths: BigInt(last) };
  }

  async function read({ pool }: MarketPool, hundredths: bigint): Promise<PricedPool> {
    const data = encodeExtsload(stateSlots(IMMUTABLES));
    const answer = await staticCall(world.market.setup.chain, { to: pool, data });
    const state = packedStorage.decodeState(IMMUTABLES, decodeExtsload(answer.data));
    return pricePool(state, quoteAround(hundredths));
  }

  async function stopLossOf({ pool }: MarketPool) {
    const { chain, deployment } = world.market.setup;
    const calls = packedAdapter.stopLoss.calls(deployment.stopLoss, pool, IMMUTABLES);
    const answers = await Promise.all(
      calls.map(({ target, data }) => staticCall(chain, { to: target, data }).then((answer) => answer.data)),
    );
    const { timestamp } = await chain.client.getBlock();
    return packedAdapter.stopLoss.decode(answers, IMMUTABLES, timestamp);
  }

  /**
   * By the formula of the variant, or by what the pool would do without its stop loss: fitted,
   * or every level simulated.
   */
  async function curveOf(pool: MarketPool, priced: PricedPool, draw: number): Promise<PoolCurve> {
    if (variant.rule !== 'growing')
      return poolCurve(await sidesOf(pool, priced, draw), packedSimulation, variant.simulation);
    const silenced = [world.market.setup.deployment.stopLoss];
    const prices = { sellX64: priced.quote.bidX64, buyX64: priced.quote.askX64 };
    const request = { ...requestOf(pool, priced), isGuarded: false, silenced };
    const free = [{ address: world.market.setup.deployment.stopLoss, code: HARMLESS }];
    return (await runWalk(world.market.setup.chain, request, prices, free)).curve;
  }

  /** What the pool answers to an exact input. */
  async function answerTo({ pool }: MarketPool, { quote }: PricedPool, { zeroForOne }: PoolSide, amount: bigint) {
    const { chain, deployment } = world.market.setup;
    const order = { pool, zeroForOne, amountSpecified: amount, ...quote };
    return { success: false, data: await simulateOnChain(chain, deployment, order) };
  }

  async function sidesOf(pool: MarketPool, priced: PricedPool, draw: number): Promise<Sides> {
    const formula = FEE_FORMULAS.find(({ name }) => name === variant.rule);
    if (formula) return formulaCurve(priced, formula);
    const free = [{ address: world.market.setup.deployment.stopLoss, code: HARMLESS }];
    const fitted = async (zeroForOne: boolean) => {
      const plan = planFit(priced, zeroForOne, draw);
      const fills: (SwapAmounts | null)[] = [];
      const ask = async (amount: bigint) => {
        const [record] = await simulated(pool, priced, { zeroForOne }, [amount], free);
        fills.push(record ? amountsOf(record, zeroForOne) : null);
      };
      for (const amount of plan.probes) await ask(amount);
      for (const amount of furtherProbes(plan, fills)) await ask(amount);
      const curve = fitSide(plan, fills, priced.quote.referenceX64);
      if (!curve) throw new Error('the side was not fitted');
      return curve;
    };
    return { bids: await fitted(true), asks: await fitted(false) };
  }

  /**
   * The ends of levels, and amounts inside every level, as output and as input: those that give a unit of output fill.
   */
  async function expectFills(pool: MarketPool, priced: PricedPool, side: PoolSide, levels: readonly DepthLevel[]) {
    const outputs = amountsWithin(levels.map(({ cumulativeOutput }) => cumulativeOutput));
    const inputs = amountsWithin(levels.map(({ cumulativeInput }) => cumulativeInput));
    const records = await simulated(pool, priced, side, [...outputs.map((output) => -output), ...inputs]);
    expect(
      records.filter(
        ({ amount, outcome }) => outcome !== (amount > 0n && outcome === 'tooSmall' ? 'tooSmall' : 'fills'),
      ),
    ).toEqual([]);
    expect(records).toHaveLength(outputs.length + inputs.length);
  }

  /** Simulations in order, up to the first that does not fill. */
  async function simulated(
    { pool }: MarketPool,
    { quote }: PricedPool,
    { zeroForOne }: Pick<PoolSide, 'zeroForOne'>,
    amounts: readonly bigint[],
    stateOverride: { readonly address: Address; readonly code: Hex }[] = [],
  ): Promise<readonly WalkRecord[]> {
    const order = { zeroForOne, amountSpecified: 0n, quote, trader: CALLER };
    const form = variant.simulation;
    const walk: SideWalk = {
      pool,
      warming: { data: '0x', gas: 0 },
      template: { data: packedSimulation.encode(form, order), amountOffset: form === 'sender' ? 100 : 68 },
      points: amounts.map((amount) => ({ amount, gasLimit: 3_000_000 })),
    };
    const records: WalkRecord[] = [];
    for (;;) {
      const data = encodeWalk({ ...walk, points: walk.points.slice(records.length) });
      const call = { account: CALLER, data, gas: CALL_GAS, stateOverride };
      const answer = decodeWalk((await world.market.setup.chain.client.call(call)).data ?? '0x');
      records.push(...answer.records);
      if (answer.done) return records;
    }
  }
});

/** Code that has no objection: it stops. */
const HARMLESS: Hex = '0x00';

function amountsOf({ fill }: WalkRecord, zeroForOne: boolean): SwapAmounts | null {
  if (!fill) return null;
  return zeroForOne
    ? { amountIn: fill.amount0Delta, amountOut: -fill.amount1Delta }
    : { amountIn: fill.amount1Delta, amountOut: -fill.amount0Delta };
}

function amountsWithin(ends: readonly bigint[]): bigint[] {
  const inside = ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0n;
    return [start + 1n, ...PARTS.map((part) => start + ((end - start) * part) / 100n)];
  });
  const last = ends.at(-1) ?? 0n;
  return [...new Set([1n, ...inside])]
    .filter((amount) => amount > 0n && amount <= last)
    .sort((a, b) => (a < b ? -1 : 1));
}
