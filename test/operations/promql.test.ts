import { readFileSync } from 'node:fs';
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

const operatorFile = (path: string) => readFileSync(new URL(`../../ops/${path}`, import.meta.url), 'utf8');

test('alerts and dashboard group by no label that Prometheus takes for itself', () => {
  for (const path of ['alerts.yml', 'grafana/dashboard.json'])
    expect(operatorFile(path)).not.toMatch(/(by|on) \([^)]*\b(job|instance)\b/);
});

test('a process that ended, and that no metric of others shows, is down although it is not discovered any more', () => {
  for (const name of ['api', 'capture'])
    expect(operatorFile('alerts.yml')).toContain(`absent(nodejs_version_info{process="${name}"})`);
});
