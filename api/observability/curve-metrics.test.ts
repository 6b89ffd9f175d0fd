import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { type CurveReport, curveCounter } from './curve-metrics.ts';

const report = (pool: CurveReport['pool'], rank: CurveReport['rank'], dropped: CurveReport['dropped'] = null) => ({
  pool,
  rank,
  dropped,
  blockNumber: 1,
  whyNotCheaper: null,
});

test('searches are counted by rank, pools by their last rank, and dropped formulas by reason', async () => {
  const registry = new Registry();
  const count = curveCounter(registry, [1, 56], 10_000)(56);
  count(report('0xa', 'fit'));
  count(report('0xb', 'formula'));
  count(report('0xa', 'formula'));
  count(report('0xa', 'fit', 'code'));
  const text = await registry.metrics();
  expect(text).toContain('curve_searches_total{chain="56",rank="fit"} 2');
  expect(text).toContain('curve_searches_total{chain="56",rank="formula"} 2');
  expect(text).toContain('curve_pools{chain="56",rank="fit"} 1');
  expect(text).toContain('curve_pools{chain="56",rank="formula"} 1');
  expect(text).toContain('formula_drops_total{chain="56",reason="code"} 1');
  expect(text).toContain('formula_drops_total{chain="1",reason="prices"} 0');
  expect(text).toContain('curve_pools{chain="1",rank="none"} 0');
});

test('a pool that was not read for long is counted no more once too many others were', async () => {
  const registry = new Registry();
  const count = curveCounter(registry, [56], 2)(56);
  count(report('0xa', 'fit'));
  count(report('0xb', 'formula'));
  count(report('0xa', 'fit'));
  count(report('0xc', 'simulation'));
  const text = await registry.metrics();
  expect(text).toContain('curve_pools{chain="56",rank="fit"} 1');
  expect(text).toContain('curve_pools{chain="56",rank="formula"} 0');
  expect(text).toContain('curve_pools{chain="56",rank="simulation"} 1');
});
