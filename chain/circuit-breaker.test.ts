import { expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

function openBreaker() {
  const clock = { ms: 0 };
  const breaker = new CircuitBreaker(() => clock.ms);
  for (let failure = 0; failure < 3; failure += 1) breaker.failed();
  return { clock, breaker };
}

test('stays closed below the limit, and a success restarts the count', () => {
  const breaker = new CircuitBreaker(() => 0);
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
  const { clock, breaker } = openBreaker();
  clock.ms = 499;
  expect(breaker.tryPass()).toBe(false);
  clock.ms = 500;
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, false]);
  breaker.succeeded();
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, true]);
});

test('each failed trial doubles the pause, up to the longest', () => {
  const { clock, breaker } = openBreaker();
  for (const pause of [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
    clock.ms += pause - 1;
    expect(breaker.tryPass()).toBe(false);
    clock.ms += 1;
    expect(breaker.tryPass()).toBe(true);
    breaker.failed();
  }
});

test('a fault that no retry fixes opens it at once, and one failure of the trial again', () => {
  const clock = { ms: 0 };
  const breaker = new CircuitBreaker(() => clock.ms);
  breaker.open();
  clock.ms = 500;
  expect(breaker.tryPass()).toBe(true);
  breaker.failed();
  clock.ms = 1_499;
  expect(breaker.tryPass()).toBe(false);
});

test('requests that were in flight when it opened do not lengthen the pause', () => {
  const { clock, breaker } = openBreaker();
  breaker.failed();
  breaker.failed();
  clock.ms = 500;
  expect(breaker.tryPass()).toBe(true);
});

test('a trial that is never reported does not block the node permanently', () => {
  const { clock, breaker } = openBreaker();
  clock.ms = 500;
  expect(breaker.tryPass()).toBe(true);
  clock.ms = 15_499;
  expect(breaker.tryPass()).toBe(false);
  clock.ms = 15_500;
  expect(breaker.tryPass()).toBe(true);
});
