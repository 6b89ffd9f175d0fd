import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TARGETS, type Target, targetText } from './targets.ts';
import { Verdicts } from './verdicts.ts';

const DOCUMENT = readFileSync(new URL('../docs/build/benchmarks.md', import.meta.url), 'utf8');
/** As `(≤1,000)`, `(≥80%)`, `(0)`, `(0.8–1.2)`, `(≤150 at 4)`. */
const SHOWN = /\(((?:[≤≥])[\d.,]+|0|[\d.]+–[\d.]+)(?:%| at \d)?\)/g;

test('the document has the targets of all benches, in their order', () => {
  const sections = DOCUMENT.split(/^## /m).slice(1);
  const shown = sections.map((section): [string, string[]] => [
    section.slice(0, section.indexOf('\n')),
    [...section.matchAll(SHOWN)].map(([, target = '']) => target.replaceAll(',', '')),
  ]);
  const texts = Object.entries<Record<string, Target>>(TARGETS).map(([name, targets]) => [
    name,
    Object.values(targets).map(targetText),
  ]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(texts));
});

test('what misses a target is named, and so is what was not measured', () => {
  const verdicts = new Verdicts('levels');
  expect(verdicts.verdict('CPU of a frame/bare broadcast', 2)).toBe('pass');
  expect(verdicts.line('heap afterwards/before', 1.2345)).toBe('target ≤1.1  MISS');
  expect(verdicts.missed).toEqual(['heap afterwards/before: 1.234 (≤1.1)']);
  expect(verdicts.unmeasured).toEqual([
    'CPU of a compressed frame/as it is',
    'quotes meanwhile, p99/calm',
    'calls to nodes, many without a key/one',
  ]);
  expect(verdicts.verdict('quotes meanwhile, p99/calm', Number.NaN)).toBe('MISS');
});

test('a target of two bounds is missed below and above', () => {
  const verdicts = new Verdicts('listing');
  const verdictOf = (value: number) => verdicts.verdict('page/page at a fifth of the swaps', value);
  expect([0.79, 0.8, 1.2, 1.21].map(verdictOf)).toEqual(['MISS', 'pass', 'pass', 'MISS']);
});
