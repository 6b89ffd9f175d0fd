import { describe, expect, test } from 'vitest';
import {
  DECODERS,
  decodeBap710Frame,
  decodeBap710Overrides,
  decodeBuilderAnswer,
  decodeBuilderFrame,
  decodeBuilderOverrides,
} from './decoders.ts';

const [POOL, WETH, USDC] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`);
const BOOK = '[{"amountIn":"0x1","amountOut":"0x2","KIND":"S"},{"amountIn":"0x10","amountOut":"0x1f","KIND":"I"}]';
const pamms = (levels: string, kind: string, simulated: string, interpolated: string) => {
  const book = BOOK.replaceAll('KIND', kind).replace('"S"', `"${simulated}"`).replace('"I"', `"${interpolated}"`);
  return `[{"pamm":"${POOL}","pairs":[{"tokenIn":"${WETH}","tokenOut":"${USDC}","${levels}":${book}}]}]`;
};
const GOOD = {
  builder: `{"slot":14581462,"blockNumber":25345763,"timestamp":1781801564588230787,"pamms":${pamms('orderBook', 'variant', 'Simulated', 'Interpolated')}}`,
  bap710: `{"blockNumber":25345763,"millisTimestamp":1781801564588,"pamms":${pamms('levels', 'source', 'simulated', 'interpolated')}}`,
};

test('the published forms decode', () => {
  const levels = [
    { amountIn: 1n, amountOut: 2n, isSimulated: true },
    { amountIn: 16n, amountOut: 31n, isSimulated: false },
  ];
  const pairs = [{ pamm: POOL, tokenIn: WETH, tokenOut: USDC, levels, skipped: {} }];
  const common = { blockNumber: 25_345_763n, madeAt: 1_781_801_564_588, pairs, omitted: null, parent: null };
  expect(decodeBuilderFrame(GOOD.builder)).toEqual({ ...common, slot: 14_581_462n });
  expect(decodeBap710Frame(GOOD.bap710)).toEqual({ ...common, slot: null });
  expect(decodeBuilderFrame(GOOD.builder.replace(/}$/, ',"omitted":3}')).omitted).toBe(3n);
});

describe.each(['builder', 'bap710'] as const)('the decoder of %s rejects', (format) => {
  test.each([
    ['an unknown variant', /"(S|s)imulated"/, '"Guessed"'],
    ['a missing timestamp', /"(timestamp|millisTimestamp)":\d+,/, ''],
    ['a timestamp that lost digits', /"(timestamp|millisTimestamp)":\d+/, '"$1":1.781801564588231e+18'],
    ['a timestamp of seconds', /"(timestamp|millisTimestamp)":\d+/, '"$1":1781801564'],
    ['a decimal string', '"0x10"', '"16"'],
    ['an amount that is a number', '"0x1f"', '31'],
    ['descending inputs', '"0x10"', '"0x1"'],
    ['descending outputs', '"0x1f"', '"0x1"'],
    ['a block number that is a text', '25345763', '"25345763"'],
    ['an unknown field', '"pairs"', '"x":1,"pairs"'],
    ['a missing token', `"tokenIn":"${WETH}",`, ''],
    ['a pair of one token', `"tokenIn":"${WETH}"`, `"tokenIn":"${USDC}"`],
    ['a pair without levels', /\[\{"amountIn".*?\]/, '[]'],
    ['another spelling of an address', POOL ?? '', (POOL ?? '').toUpperCase()],
  ] as const)('%s', (_what, part, other) => {
    const text = GOOD[format].replace(part, other);
    expect(text).not.toBe(GOOD[format]);
    expect(() => DECODERS[format](text)).toThrow();
  });

  test('the other form', () => {
    expect(() => DECODERS[format](GOOD[format === 'builder' ? 'bap710' : 'builder'])).toThrow();
  });
});

const SLOTS = `{"0x${'5'.repeat(64)}":"0x${'7'.repeat(64)}"}`;
const OVERRIDES = {
  builder: `{"slot":14581462,"blockNumber":25345763,"timestamp":1781801564588230787,"${POOL}":{"stateOverride":{"${WETH}":{"stateDiff":${SLOTS}}}}}`,
  bap710: `{"blockNumber":25345763,"millisTimestamp":1781801564588,"overrides":{"${WETH}":${SLOTS}},"venues":[{"router":"${POOL}","overrides":{"${WETH}":${SLOTS}}}]}`,
};

test('state overrides of the published forms decode, with a further field where a form has room for it', () => {
  const words = { [WETH ?? '']: JSON.parse(SLOTS) };
  const common = { blockNumber: 25_345_763n, madeAt: 1_781_801_564_588, venues: new Map([[POOL, words]]) };
  expect(decodeBuilderOverrides(OVERRIDES.builder)).toEqual({ ...common, slot: 14_581_462n });
  const answer = OVERRIDES.builder.replace('25345763', '"0x182bee3"');
  expect(decodeBuilderAnswer(answer)).toEqual({ ...common, slot: 14_581_462n });
  expect(() => decodeBuilderAnswer(OVERRIDES.builder)).toThrow('hex');
  expect(() => decodeBuilderOverrides(answer)).toThrow('integer');
  const parent = OVERRIDES.bap710.replace(/}$/, `,"parent":{"number":1,"hash":"0x${'1'.repeat(64)}"}}`);
  for (const text of [OVERRIDES.bap710, parent])
    expect(decodeBap710Overrides(text)).toEqual({ ...common, slot: null, merged: words });
});

test.each([
  ['a timestamp that lost digits', /"(timestamp|millisTimestamp)":\d+/, '"$1":1.781801564588231e+18'],
  ['a timestamp of seconds', /"(timestamp|millisTimestamp)":\d+/, '"$1":1781801564'],
  ['a field of no form', /}$/, ',"x":1}'],
  ['a word that is short', '7'.repeat(64), '7'],
] as const)('the decoders of state overrides reject %s', (_what, part, other) => {
  expect(() => decodeBuilderOverrides(OVERRIDES.builder.replace(part, other))).toThrow();
  expect(() => decodeBap710Overrides(OVERRIDES.bap710.replace(part, other))).toThrow();
});
