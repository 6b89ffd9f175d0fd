import { expect, test } from 'vitest';
import {
  addressArgument,
  blockArgument,
  blockTimeArgument,
  chainIdArgument,
  dayArgument,
  formatDay,
  graceArgument,
} from './arguments.ts';

test.each([
  ['0s', 0],
  ['90s', 90],
  ['30m', 1_800],
  ['24h', 86_400],
  ['365d', 31_536_000],
])('%s is a time of grace', (text, seconds) => {
  expect(graceArgument(text)).toBe(seconds);
});

test.each(['', '24', '1.5h', '-1h', 'h', '366d', '1h30m', '9999999999s'])('"%s" is none', (text) => {
  expect(() => graceArgument(text)).toThrow('not a time such as');
});

test('an address has one spelling', () => {
  expect(addressArgument(`0x${'aB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`);
  for (const text of ['', '0x12', 'ab'.repeat(20), `0x${'zz'.repeat(20)}`]) {
    expect(() => addressArgument(text)).toThrow('not a 20-byte 0x-prefixed address');
  }
});

test.each([
  ['a chain id', chainIdArgument, ['1', '8453'], ['', '0', '-1', '1.5', '0x1', '01', 'mainnet']],
  ['a block number', blockArgument, ['0', '1', '123456789'], ['', '-1', '1.5', '0x1', '00', 'latest']],
  ['a number of milliseconds', blockTimeArgument, ['1', '12000'], ['', '0', '-1', '12s', '1e3']],
])('%s is a whole number', (name, parse, good, bad) => {
  for (const text of good) expect(parse(text)).toBe(Number(text));
  for (const text of bad) expect(() => parse(text)).toThrow(`not ${name}`);
});

test('a day is its start in UTC', () => {
  for (const [text, start] of [
    ['1970-01-01', 0],
    ['2026-11-25', 1_795_564_800],
    ['2028-02-29', 1_835_395_200],
  ] as const) {
    expect([dayArgument(text), formatDay(start), formatDay(start + 86_399)]).toEqual([start, text, text]);
  }
  for (const text of ['', 'today', '2026-11-5', '2026-02-29', '2026-11-25T00:00:00Z']) {
    expect(() => dayArgument(text)).toThrow('not a day such as');
  }
});
