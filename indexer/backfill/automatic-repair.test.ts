import { expect, test } from 'vitest';
import { readReport } from './automatic-repair.ts';

test('a line of the command is a report only if it is JSON that names its type', () => {
  expect(readReport('{"type":"end","blocks":7}')).toEqual({ type: 'end', blocks: 7 });
  const others = ['', 'Warning: 0 is deprecated', '{"type":', 'null', '7', '[]', '{}', '{"type":7}'];
  expect(others.map(readReport)).toEqual(others.map(() => null));
});
