import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generateClient } from './generate.ts';

test('the committed documents and calls are those of the routes', async () => {
  for (const [name, content] of generateClient()) {
    const committed = await readFile(new URL(name, import.meta.url), 'utf8');
    expect(committed === content, `client/${name} is out of date: run "npm run openapi"`).toBe(true);
  }
});
