import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { type CurveReport, curveCounter } from './curve-metrics.ts';

const report = (rank: CurveReport['rank'], dropped: CurveReport['dropped'] = null): CurveReport => ({
  pool: '0xa',
  rank,
  dropped,
});

test('searches are counted by rank, and dropped formulas by reason', async () => {
  const registry = new Registry();
  const count = curveCounter(registry, [1, 56])(56);
  count(report('fit'));
  count(report('formula'));
  count(report('fit', 'code'));
  const text = await registry.metrics();
  expect(text).toContain('curve_searches_total{chain="56",rank="fit"} 2');
  expect(text).toContain('curve_searches_total{chain="56",rank="formula"} 1');
  expect(text).toContain('curve_searches_total{chain="1",rank="none"} 0');
  expect(text).toContain('formula_drops_total{chain="56",reason="code"} 1');
  expect(text).toContain('formula_drops_total{chain="1",reason="prices"} 0');
});
