import { describe, expect, test } from 'vitest';
import { hexDigits, parseAddress } from './hex.ts';

const DIGITS = 'aBcDeF0123456789aBcDeF0123456789aBcDeF01';
const LOWER = `0x${DIGITS.toLowerCase()}`;

describe('an address', () => {
  test.each([`0x${DIGITS}`, `0X${DIGITS}`, `0X${DIGITS.toUpperCase()}`, LOWER])('%s comes out in lowercase', (text) => {
    expect(parseAddress(text)).toBe(LOWER);
  });

  test.each([
    '',
    '0x',
    DIGITS,
    `0x${DIGITS}0`,
    `0x${DIGITS.slice(1)}`,
    ` 0x${DIGITS}`,
    `0x${DIGITS}\n`,
    `0x${'g'.repeat(40)}`,
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

describe('hex', () => {
  test.each([
    ['0xAb', 'ab'],
    ['0XAb', 'ab'],
    ['Ab', 'ab'],
    ['0x', ''],
    ['0X', ''],
    ['', ''],
  ])('%j has the digits %j', (text, digits) => {
    expect(hexDigits(text)).toBe(digits);
  });

  test.each(['0xa', 'x', '0x0x', 'zz', ' ab', 'ab\n'])('%j is none', (text) => {
    expect(hexDigits(text)).toBeNull();
  });
});
