import { type Hex, numberToHex, zeroHash } from 'viem';
import { describe, expect, test } from 'vitest';
import { callParams } from './eth-call.ts';
import { CANARY, overrideChecks } from './override-checks.ts';
import { checkView, OtherPart, readView, viewCalls } from './part-view.ts';
import type { PartView } from './pending-state.ts';
import { MissingAbility, RpcFailure } from './rpc-failure.ts';

const MULTICALL: Hex = '0xca11bde05977b3631167028862be2a173976ca11';
const word = (value: bigint | number): Hex => numberToHex(value, { size: 32 });
const result = (data: Hex) => ({ success: true, data });

const NODE = 'node.test';
const VIEW: PartView = { blockNumber: 10n, timestamp: 1_020n, parentHash: word(9), feesWei: 7n, node: NODE };
const PART = { view: VIEW, index: null, multicall3: MULTICALL };

/** What the calls of a view return. */
const results = ({ blockNumber, timestamp, parentHash, feesWei }: PartView) =>
  [word(blockNumber), word(timestamp), parentHash ?? zeroHash, word(feesWei - 2n), word(2), word(0)].map(result);

const block = {
  number: 9n,
  hash: word(9),
  timestamp: 1_018n,
  pending: {
    blockNumber: 10n,
    timestamp: 1_020n,
    overrides: new Map(),
    digest: 'x',
    receivedAt: 0,
    part: { view: VIEW, index: 3, multicall3: MULTICALL },
  },
};

test('one call shows number, time, parent and the fees of all accounts', () => {
  expect(readView(results(VIEW), NODE)).toEqual(VIEW);
  expect(readView(results({ ...VIEW, parentHash: null }), NODE).parentHash).toBeNull();
  expect(viewCalls(MULTICALL)).toHaveLength(results(VIEW).length);
  for (const bad of [null, { success: false, data: '0x' as const }, result('0x')])
    expect(() => readView(results(VIEW).with(1, bad as never), NODE)).toThrow(RpcFailure);
});

test.each<[string, Partial<PartView>]>([
  ['number', { blockNumber: 11n }],
  ['time', { timestamp: 1_021n }],
  ['parent', { parentHash: word(8) }],
  ['more fees', { feesWei: 8n }],
  ['less fees', { feesWei: 6n }],
])('a call that ran on another part shows it: %s', (_, change) => {
  const seen = { ...VIEW, ...change };
  expect(() => checkView(PART, results(seen), NODE)).toThrow(OtherPart);
  expect(() => checkView(PART, results(seen), NODE)).toThrow(expect.objectContaining({ code: 'moved', view: seen }));
});

test('a node that gives no hash of the parent shows the same part', () => {
  expect(() => checkView(PART, results({ ...VIEW, parentHash: null }), NODE)).not.toThrow();
});

describe('calls after a part', () => {
  test('are made at the tag pending, without overrides', () => {
    expect(callParams({ block, to: MULTICALL, data: '0x01' }).slice(1)).toEqual(['pending']);
  });

  test('show the part, and no other check is needed where they have no other code', () => {
    const { calls, context, check } = overrideChecks({ block }, 'stateOverrides');
    expect(calls.map(({ data }) => data)).toEqual(viewCalls(MULTICALL).map(({ data }) => data));
    expect(context).not.toHaveProperty('code');
    expect(() => check(results(VIEW), NODE)).not.toThrow();
    expect(() => check(results({ ...VIEW, feesWei: 9n }), NODE)).toThrow(OtherPart);
  });

  test('show besides that other code is in place', () => {
    const code = new Map([[MULTICALL, '0x00' as const]]);
    const { calls, context, check } = overrideChecks({ block, code }, 'stateOverrides');
    expect(calls.at(-1)?.target).toBe(CANARY.target);
    expect([...(context.code ?? [])].map(([account]) => account)).toEqual([MULTICALL, CANARY.target]);
    expect(() => check([...results(VIEW), result(CANARY.answer)], NODE)).not.toThrow();
    expect(() => check([...results(VIEW), result('0x')], NODE)).toThrow(MissingAbility);
  });
});
