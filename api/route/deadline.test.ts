import { expect, it } from 'vitest';
import { Deadline } from './deadline.ts';

const late = { status: 503, body: { error: 'Service temporarily unavailable' } };

it('lets through what comes in time, results and errors', async () => {
  const deadline = new Deadline(10_000);
  deadline.check();
  expect(await deadline.within(Promise.resolve(1))).toBe(1);
  await expect(deadline.within(Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(deadline.signal.aborted).toBe(false);
});

it('stops waiting and tells others by its signal', async () => {
  const deadline = new Deadline(20);
  const never = new Promise<never>(() => undefined);
  await expect(deadline.within(never)).rejects.toMatchObject(late);
  expect(deadline.signal.aborted).toBe(true);
  await expect(deadline.within(Promise.resolve(1))).rejects.toMatchObject(late);
});

it('is seen by a loop that never yields', () => {
  const deadline = new Deadline(20);
  const spin = () => {
    for (;;) deadline.check();
  };
  expect(spin).toThrow(expect.objectContaining(late));
});
