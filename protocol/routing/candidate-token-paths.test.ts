import type { Address } from 'viem';
import { describe, expect, it } from 'vitest';
import { candidateTokenPaths } from './candidate-token-paths.ts';
import { type GraphPool, PoolGraph } from './graph.ts';
import { finish, TOKEN_IN, TOKEN_OUT } from './market.fixture.ts';
import type { PoolCandidate } from './pool-candidate.ts';

const MOST = 100;

/** A pool that sells token0, and what it gives; null when nothing is known of it. */
interface MadePool extends GraphPool {
  readonly output: number | null;
  readonly isObserved: boolean;
  readonly tierRank: number;
}

let names = 0;
const token = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

function made(tokenIn: Address, tokenOut: Address, known: Partial<MadePool>): MadePool {
  names += 1;
  return {
    address: token(1_000_000 + names),
    token0: { address: tokenIn },
    token1: { address: tokenOut },
    output: null,
    isObserved: false,
    tierRank: 1,
    ...known,
  };
}

const describePool = (pool: MadePool, zeroForOne: boolean): PoolCandidate<MadePool> => ({
  pool,
  zeroForOne,
  estimate: pool.output === null ? null : { inputs: [pool.output], outputs: [pool.output] },
  isObserved: pool.isObserved,
  tierRank: pool.tierRank,
  cost: 1,
});

const reported = (output: number) => ({ output });
const observed = (output: number) => ({ output, isObserved: true });
const compare = (graph: PoolGraph<MadePool>, most = MOST) =>
  finish(
    candidateTokenPaths(graph, describePool, { tokenIn: TOKEN_IN, tokenOut: TOKEN_OUT, tradeType: 'exact_in' }, most),
  );
const poolsOf = (paths: ReturnType<typeof compare>) => paths.flatMap(({ legs }) => legs.flat().map(({ pool }) => pool));
const path = (via: number, known: Partial<MadePool>) => [
  made(TOKEN_IN, token(via), known),
  made(token(via), TOKEN_OUT, known),
];

describe('a crowd', () => {
  it('of thousands of pools and intermediate tokens changes neither what is kept of the honest ones nor the number compared', () => {
    const crowd = (start: number, count: number) =>
      Array.from({ length: count }, (_, index) => start + index).flatMap((number) => [
        made(TOKEN_IN, TOKEN_OUT, number % 2 ? reported(1) : observed(1)),
        // An untrusted token promises any amount of itself.
        made(TOKEN_IN, token(number), number % 2 ? reported(1e30) : observed(1e30)),
        made(token(number), TOKEN_OUT, number % 3 ? reported(2) : observed(2)),
      ]);
    const honest = [
      ...Array.from({ length: 20 }, () => made(TOKEN_IN, TOKEN_OUT, reported(1_000))),
      ...[1, 2, 3].flatMap((via) => path(via, reported(900))),
    ];
    const few = poolsOf(compare(new PoolGraph([...crowd(10_000, 2_000), ...honest])));
    expect(honest.filter((pool) => !few.includes(pool))).toEqual([]);
    const many = poolsOf(compare(new PoolGraph([...crowd(10_000, 2_000), ...honest, ...crowd(20_000, 4_000)])));
    expect(honest.filter((pool) => !many.includes(pool))).toEqual([]);
    expect(many.length).toBe(few.length);
  });

  it('leaves places to the paths that were observed, whatever others report', () => {
    const crowd = Array.from({ length: 3_000 }, (_, via) => path(1_000 + via, reported(1e9))).flat();
    const known = [1, 2, 3].flatMap((via) => path(via, observed(5)));
    const compared = poolsOf(compare(new PoolGraph([...crowd, ...known])));
    expect(known.filter((pool) => !compared.includes(pool))).toEqual([]);
  });

  it('of reported pools stands behind pools of a better tier', () => {
    const crowd = Array.from({ length: 300 }, () => made(TOKEN_IN, TOKEN_OUT, reported(1e9)));
    const graded = made(TOKEN_IN, TOKEN_OUT, { ...reported(5), tierRank: 4 });
    expect(poolsOf(compare(new PoolGraph([...crowd, graded])))).toContain(graded);
  });
});

it('pools and tokens that give nothing are not compared where there are many', () => {
  const empty = Array.from({ length: 200 }, () => made(TOKEN_IN, TOKEN_OUT, reported(0)));
  const good = made(TOKEN_IN, TOKEN_OUT, observed(1));
  expect(poolsOf(compare(new PoolGraph([...empty, good])))).toEqual([good]);
  expect(compare(new PoolGraph(empty))).toEqual([{ legs: [[]] }]);
  expect(compare(new PoolGraph<MadePool>())).toEqual([]);
});

it('pools of which nothing is known are compared in the order of the graph', () => {
  const direct = Array.from({ length: 150 }, () => made(TOKEN_IN, TOKEN_OUT, {}));
  const vias = Array.from({ length: 300 }, (_, via) => path(1_000 + via, {}));
  const found = compare(new PoolGraph([...direct, ...vias.flat()]));
  expect(poolsOf(found)).toEqual([...direct.slice(0, MOST), ...vias.slice(0, MOST / 2).flat()]);
});
