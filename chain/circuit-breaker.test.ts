import { expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

function breakerAt(failures = 3) {
  const clock = { ms: 0 };
  const breaker = new CircuitBreaker({ failures, pauseMs: 100, maxPauseMs: 400 }, () => clock.ms);
  return { clock, breaker };
}

test('stays closed below the limit, and a success starts the count anew', () => {
  const { breaker } = breakerAt();
  breaker.failed();
  breaker.failed();
  breaker.succeeded();
  breaker.failed();
  breaker.failed();
  expect(breaker.tryPass()).toBe(true);
  breaker.failed();
  expect(breaker.tryPass()).toBe(false);
});

test('after the pause exactly one trial passes; its success closes the breaker', () => {
  const { clock, breaker } = breakerAt(1);
  breaker.failed();
  clock.ms = 99;
  expect(breaker.tryPass()).toBe(false);
  clock.ms = 100;
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, false]);
  breaker.succeeded();
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, true]);
});

test('each failed trial doubles the pause, up to the longest', () => {
  const { clock, breaker } = breakerAt(1);
  breaker.failed();
  for (const pause of [100, 200, 400, 400]) {
    clock.ms += pause - 1;
    expect(breaker.tryPass()).toBe(false);
    clock.ms += 1;
    expect(breaker.tryPass()).toBe(true);
    breaker.failed();
  }
});

test('requests that were under way when it opened do not lengthen the pause', () => {
  const { clock, breaker } = breakerAt(1);
  breaker.failed();
  breaker.failed();
  breaker.failed();
  clock.ms = 100;
  expect(breaker.tryPass()).toBe(true);
});

test('a trial that is never reported does not block the node for ever', () => {
  const { clock, breaker } = breakerAt(1);
  breaker.failed();
  clock.ms = 100;
  expect(breaker.tryPass()).toBe(true);
  clock.ms = 499;
  expect(breaker.tryPass()).toBe(false);
  clock.ms = 500;
  expect(breaker.tryPass()).toBe(true);
});
