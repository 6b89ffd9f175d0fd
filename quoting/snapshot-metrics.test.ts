import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { snapshotMetrics } from './snapshot-metrics.ts';

test('what happens to snapshots is counted by chain: lookups, searches, dropped formulas, guards', async () => {
  const registry = new Registry();
  const [ethereum, bsc] = [1, 56].map(snapshotMetrics(registry));
  bsc?.lookup('joined');
  for (const method of ['fit', 'formula'] as const) bsc?.curve({ pool: '0xa', method, dropped: null });
  bsc?.curve({ pool: '0xa', method: 'fit', dropped: 'code' });
  ethereum?.guardsMismatched();
  const text = await registry.metrics();
  expect(text).toContain('snapshot_lookups_total{chain="56",result="joined"} 1');
  expect(text).toContain('curve_searches_total{chain="56",method="fit"} 2');
  expect(text).toContain('curve_searches_total{chain="56",method="formula"} 1');
  expect(text).toContain('formula_drops_total{chain="56",reason="code"} 1');
  expect(text).toContain('guard_mismatches_total{chain="1"} 1');
  // An alert on its rate needs the series before the first.
  expect(text).toContain('guard_mismatches_total{chain="56"} 0');
});
