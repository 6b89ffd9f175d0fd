import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { GroupMetrics } from './group-metrics.ts';

function metricsOfProcess() {
  const registry = new Registry();
  registry.setDefaultLabels({ process: 'api' });
  const registers = [registry];
  return {
    registry,
    count: new Counter({ name: 'count_total', help: 'count', registers }),
    times: new Histogram({ name: 'times', help: 'times', buckets: [1, 10], registers }),
    open: new Gauge({ name: 'open', help: 'open', registers }),
    head: new Gauge({ name: 'head', help: 'head', aggregator: 'max', registers }),
  };
}

const valueIn = (text: string, sample: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${sample}{`))
      ?.split(' ')
      .at(-1) ?? 0,
  );

test('sums, maxima, and counts that never fall, whatever processes end and start', async () => {
  const step = fc.record({
    process: fc.nat(2),
    add: fc.nat(20),
    ends: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const group = new GroupMetrics();
      const processes = new Map<number, { metrics: ReturnType<typeof metricsOfProcess>; open: number; head: number }>();
      let [total, observed, small] = [0, 0, 0];
      for (const { process, add, ends } of steps) {
        const it = processes.get(process) ?? { metrics: metricsOfProcess(), open: 0, head: 0 };
        processes.set(process, it);
        it.metrics.count.inc(add);
        it.metrics.times.observe(add);
        Object.assign(it, { open: add, head: it.head + add });
        it.metrics.open.set(it.open);
        it.metrics.head.set(it.head);
        total += add;
        observed += 1;
        if (add <= 1) small += 1;
        group.record(process, await it.metrics.registry.getMetricsAsJSON());
        if (ends) {
          processes.delete(process);
          group.end(process);
        }
        const text = await group.text();
        const running = [...processes.values()];
        expect(valueIn(text, 'count_total')).toBe(total);
        expect(valueIn(text, 'times_count')).toBe(observed);
        expect(valueIn(text, 'times_sum')).toBe(total);
        expect(valueIn(text, 'times_bucket')).toBe(small);
        expect(valueIn(text, 'open')).toBe(running.reduce((sum, { open }) => sum + open, 0));
        expect(valueIn(text, 'head')).toBe(Math.max(0, ...running.map(({ head }) => head)));
      }
    }),
    { numRuns: runs(20) },
  );
});
