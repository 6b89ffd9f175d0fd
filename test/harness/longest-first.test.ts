import { expect, onTestFinished, test, vi } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { LongestFirst } from './longest-first.ts';

const specification = (path: string) =>
  ({ moduleId: `/root/${path}`, project: { config: { root: '/root' } } }) as unknown as TestSpecification;

const FILES = ['a', 'b', 'c', 'd', 'e'].map((name) => specification(`${name}.test.ts`));

async function order(seed: number, files = FILES): Promise<string> {
  vi.stubEnv('FILE_ORDER', String(seed));
  const sorted = await new LongestFirst({} as Vitest).sort(files);
  return sorted.map(({ moduleId }) => moduleId.slice('/root/'.length, -'.test.ts'.length)).join('');
}

test('a seed decides the order of files', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const orders = await Promise.all([1, 2, 3, 4].map((seed) => order(seed)));
  for (const each of orders) expect([...each].toSorted().join('')).toBe('abcde');
  expect(new Set(orders).size).toBeGreaterThan(1);
  expect(await order(1, FILES.toReversed())).toBe(orders[0]);
});
