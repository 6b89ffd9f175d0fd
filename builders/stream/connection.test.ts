import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { StreamConnection } from './connection.ts';

test('any number of updates may wait for a connection that is away', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const connection = new StreamConnection({ url: 'ws://127.0.0.1:1/' }, createLogger('test', 'silent'));
  const opened = await Promise.all(Array.from({ length: 20 }, () => connection.whenOpen(50)));
  await sleep(0);
  connection.close();
  process.off('warning', note);
  expect(opened).not.toContain(true);
  expect(warnings).toEqual([]);
  expect(connection.listenerCount('open')).toBe(0);
});
