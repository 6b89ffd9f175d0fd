import { readFile, writeFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { averagePrice, fromDecimalPrice, maxIn, maxOut, toDecimalPrice } from '../../client/math.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { compareAmounts, mathResult, worseExecution } from './compare-amounts.ts';
import { type MarketSide, startFillWorld } from './fill-world.ts';
import { DEVNET_CASES, makeVectors, type Vectors } from './vectors.ts';

const VECTORS = new URL('../../client/vectors/vectors.json', import.meta.url);
const SCHEMA = new URL('../../client/vectors/schema.json', import.meta.url);
/** Each draws other amounts with `PROPERTY_SEED=random`. */
const SEED = fc.readConfigureGlobal().seed ?? 0;

const world = startedWorld(startFillWorld);

const readVectors = async () => JSON.parse(await readFile(VECTORS, 'utf8')) as Vectors;

test('the committed vectors are those of the independent implementation, on depths that the API shows', async () => {
  const made = makeVectors(
    world.sides.map(({ pool: _pool, side: _side, ...raw }) => raw),
    await world.priceWalks(),
  );
  if (process.env.UPDATE_VECTORS) await writeFile(VECTORS, vectorsText(made));
  expect((await readVectors()) as unknown, 'run UPDATE_VECTORS=1 npx vitest run test/client/math.test.ts').toEqual(
    made,
  );
  expect(made.fills.length + made.prices.length).toBe(2_000);
  const isValid = new Ajv().compile(JSON.parse(await readFile(SCHEMA, 'utf8')) as object);
  isValid(made);
  expect(isValid.errors).toBeNull();
});

test('the client gives the result of every vector', async () => {
  const { sides, fills, prices } = await readVectors();
  for (const { levels, maxIn: mostIn, maxOut: mostOut } of sides) {
    expect([maxIn(levels), maxOut(levels)]).toEqual([BigInt(mostIn), BigInt(mostOut)]);
  }
  const wrong = fills.filter(
    ({ side, exact, amount, result }) => mathResult(sides[side]?.levels ?? [], exact, BigInt(amount)) !== result,
  );
  expect(wrong).toEqual([]);
  for (const { amountIn, amountOut, floorX64, ceilX64, decimal, ...decimals } of prices) {
    const price = averagePrice({ amountIn: BigInt(amountIn), amountOutFloor: BigInt(amountOut) });
    expect(price).toEqual({ floorX64: BigInt(floorX64), ceilX64: BigInt(ceilX64) });
    expect(toDecimalPrice(floorX64, decimals)).toBe(decimal);
    expect(fromDecimalPrice(decimal, decimals)).toEqual({ floorX64: price.floorX64, ceilX64: price.floorX64 });
  }
});

test('interpolated volume is paid, interpolated prices ask up to 2 bps more than is paid', async () => {
  const { priceWalks } = await readVectors();
  const excessBps = priceWalks.flatMap(({ levels, cases }) =>
    cases.map(({ amountIn, byVolume, byPrice, executed }) => {
      expect(mathResult(levels, 'in', BigInt(amountIn))).toBe(byVolume);
      expect(BigInt(byVolume)).toBeLessThanOrEqual(BigInt(executed));
      return (Number(byPrice) / Number(executed) - 1) * 10_000;
    }),
  );
  expect(excessBps).toHaveLength(30);
  expect(Math.max(...excessBps)).toBeCloseTo(2, 0);
});

test('the chain executes the vectors of its pools at most a raw unit worse than they say', async () => {
  const { fills } = await readVectors();
  for (const { side, exact, amount } of fills.slice(0, DEVNET_CASES)) {
    expect(await worseExecution(world, world.sides[side] as MarketSide, exact, BigInt(amount))).toBeNull();
  }
});

test(`20,000 amounts have one result: of the client, of the contract's text, of routes (PROPERTY_SEED=${SEED})`, async () => {
  const { differences, routes } = await compareAmounts(world, seededRandom(SEED), 20_000);
  expect(differences).toEqual([]);
  expect(routes).toBeGreaterThan(15_000);
});

/** A line per case. */
function vectorsText({ sides, fills, prices, priceWalks }: Vectors): string {
  const list = (name: string, all: readonly unknown[]) =>
    `  "${name}": [\n${all.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]`;
  return `{\n${[list('sides', sides), list('fills', fills), list('prices', prices), list('priceWalks', priceWalks)].join(',\n')}\n}\n`;
}
