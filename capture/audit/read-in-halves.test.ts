import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RpcFailure, type RpcFailureCode } from '../../chain/rpc-failure.ts';
import { readInHalves } from './read-in-halves.ts';

/** Reads numbers as their squares from a node that fails whatever has one of these in it. */
async function readFrom(items: readonly number[], failing: readonly number[], code: RpcFailureCode = 'refused') {
  let [requests, failures] = [0, 0];
  const results = await readInHalves(items, async (some) => {
    requests += 1;
    if (!some.some((item) => failing.includes(item))) return some.map((item) => item ** 2);
    failures += 1;
    throw new RpcFailure(code, 'out of gas');
  });
  return { results, requests, failures };
}

const upTo = (count: number) => Array.from({ length: count }, (_, item) => item);

it('1, 2: the one of a run that fails keeps no other one from being read', async () => {
  for (const failing of upTo(50)) {
    const { results, requests } = await readFrom(upTo(50), [failing]);
    expect(results).toEqual(upTo(50).map((item) => (item === failing ? undefined : item ** 2)));
    expect(requests).toBeLessThanOrEqual(13);
  }
  expect(await readFrom(upTo(50), [])).toMatchObject({ requests: 1 });
});

it('1, 3: over random failures, results belong to their items, and few requests fail', () =>
  fc.assert(
    fc.asyncProperty(fc.nat(60), fc.array(fc.nat(60)), async (count, failing) => {
      const { results, failures } = await readFrom(upTo(count), failing);
      expect(results).toHaveLength(count);
      expect(failures).toBeLessThanOrEqual(10);
      for (const [item, result] of results.entries())
        if (result !== undefined) expect([result, failing.includes(item)]).toEqual([item ** 2, false]);
    }),
  ));

it('3: a node that takes no request is not asked for halves', async () => {
  for (const code of ['unreachable', 'paused', 'wrong_chain'] as const) {
    const { results, requests } = await readFrom(upTo(50), [7], code);
    expect([requests, new Set(results)]).toEqual([1, new Set([undefined])]);
  }
});

it('a fault of our own is none of the node', async () => {
  const defect = new TypeError('no such thing');
  await expect(readInHalves([1, 2], () => Promise.reject(defect))).rejects.toBe(defect);
});
