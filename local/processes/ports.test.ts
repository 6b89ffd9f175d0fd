import { expect, test } from 'vitest';
import { readPorts } from './ports.ts';

test('a setting with which the start would wait for the API in vain is rejected by name', async () => {
  const env = { PORT: '0', INDEXER_PORT: '0' };
  await expect(readPorts({ ...env, OPERATIONS_PORT: '8081' })).rejects.toThrow(/^OPERATIONS_PORT is set: /);
  expect(await readPorts({ ...env, OPERATIONS_PORT: '' })).toEqual({
    api: expect.any(Number),
    indexer: expect.any(Number),
  });
});
