import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';

test('each advisory lock has a number of its own, those of migrations too', () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
  const folder = join(PROJECT_ROOT, 'migrations');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const taken = texts.flatMap((text) => [...text.matchAll(/_lock\((\d+)\)/g)].map(([, number]) => Number(number)));
  // A migration that replaces a function repeats its number.
  expect([...new Set(taken)]).toEqual([ADVISORY_LOCKS.historyPartitions]);
});
