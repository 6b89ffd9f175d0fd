import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutageLog } from './outage-log.ts';

const QUIET_MS = 30_000;

/** A log of outages with its lines and a clock. */
function startLog(quietMs?: number) {
  const lines: unknown[][] = [];
  const clock = { ms: 0 };
  const write = (...line: unknown[]) => void lines.push(line);
  const options = { begin: 'down', end: 'back', now: () => clock.ms, ...(quietMs !== undefined && { quietMs }) };
  return { log: new OutageLog({ info: write, warn: write }, options), lines, clock };
}

test('an outage is a line when it begins and a line when it ends, with the failures between', () => {
  const { log, lines, clock } = startLog();
  log.worked();
  expect(lines).toEqual([]);
  const [first, second] = [new Error('one'), new Error('two')];
  log.failed(first);
  clock.ms = 4_600;
  log.failed(second);
  expect(lines).toEqual([[{ err: first }, 'down']]);
  log.worked();
  log.worked();
  expect(lines.slice(1)).toEqual([[{ failures: 2, secs: 5 }, 'back']]);
  log.failed(second);
  expect(lines.slice(2)).toEqual([[{ err: second }, 'down']]);
});

test('what works now and then is one outage, until nothing fails for a while', () => {
  const { log, lines, clock } = startLog(QUIET_MS);
  for (let n = 0; n < 100; n += 1) {
    clock.ms = n * (QUIET_MS - 1);
    log.failed(new Error('busy'));
    log.worked();
    expect(log.isFailing).toBe(true);
  }
  expect(lines).toHaveLength(1);
  clock.ms += QUIET_MS;
  expect(log.isFailing).toBe(false);
  expect(lines).toHaveLength(1);
  log.worked();
  expect(lines.slice(1)).toEqual([[{ failures: 100, secs: Math.round(99 * (QUIET_MS - 1) * 0.001) }, 'back']]);
});

test('lines begin and end alternately, and count each failure once, whatever happens when', () => {
  const event = fc.tuple(fc.constantFrom('failed', 'worked'), fc.integer({ min: 0, max: 2 * QUIET_MS }));
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom(0, QUIET_MS), (events, quietMs) => {
      const { log, lines, clock } = startLog(quietMs);
      for (const [what, afterMs] of events) {
        clock.ms += afterMs;
        if (what === 'failed') log.failed(new Error('it'));
        else log.worked();
      }
      clock.ms += QUIET_MS;
      log.worked();
      expect(lines.map(([, text]) => text)).toEqual(lines.map((_, index) => (index % 2 === 0 ? 'down' : 'back')));
      const counted = lines.reduce((sum, [fields]) => sum + ((fields as { failures?: number }).failures ?? 0), 0);
      expect(counted).toBe(events.filter(([what]) => what === 'failed').length);
    }),
  );
});
