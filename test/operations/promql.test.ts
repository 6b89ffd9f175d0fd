import { expect, test } from 'vitest';
import { metricsIn } from './promql.ts';

test.each([
  ['up', ['up']],
  ['sum by (le, route) (rate(http_seconds_bucket{status=~"5.."}[5m]))', ['http_seconds_bucket']],
  ['a_total{x="b{c}"} / ignoring (x) b_total > bool 0.5', ['a_total', 'b_total']],
  ['time() - last_good_seconds > 60 and on (job) up == 1', ['last_good_seconds', 'up']],
  ['max(depth) by (provider)', ['depth']],
])('%s reads %j', (expression, names) => {
  expect(metricsIn(expression)).toEqual(names);
});
