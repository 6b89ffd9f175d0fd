import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, symlink, truncate, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type LogOf, MAX_LOG_BYTES, openLogs } from './process-logs.ts';

let folder: string;
let failures: string[];
let logOf: LogOf;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'process-logs-test-'));
  failures = [];
  logOf = await openLogs(folder, (line) => failures.push(line));
  onTestFinished(() => rm(folder, { recursive: true }));
});

const write = (name: string, text: string) => new Promise((resolve) => logOf(name)?.write(text, resolve));
const read = (name: string) => readFile(join(folder, name), 'utf8');

test('a process that is started again, in this run or another, goes on with its log', async () => {
  // Without waiting: as the last lines of a process and the first of the next one come.
  await Promise.all([write('api', 'first\n'), write('api', 'second\n'), write('capture', 'other\n')]);
  expect(logOf('api')).toBe(logOf('api'));
  logOf = await openLogs(folder, () => undefined);
  await write('api', 'third\n');
  expect(await read('api.log')).toBe('first\nsecond\nthird\n');
  expect(await read('capture.log')).toBe('other\n');
  expect((await stat(join(folder, 'api.log'))).mode & 0o777).toBe(0o600);
});

test('a log that is full becomes the old one', async () => {
  for (const round of ['one', 'two']) {
    await write('api', `${round}\n`);
    await truncate(join(folder, 'api.log'), MAX_LOG_BYTES);
  }
  await write('api', 'three\n');
  await write('api', 'four\n');
  expect((await readdir(folder)).sort()).toEqual(['api.log', 'api.log.old']);
  expect(await read('api.log')).toBe('three\nfour\n');
  expect((await read('api.log.old')).startsWith('two\n')).toBe(true);
});

test.runIf(process.platform === 'linux')('a full disk is one line, and lines come again when it has room', async () => {
  const path = join(folder, 'api.log');
  await symlink('/dev/full', path);
  const log = logOf('api');
  await Promise.all([write('api', 'lost\n'), write('api', 'lost, too\n')]);
  expect(failures).toEqual([`${path} lacks lines: ENOSPC: no space left on device, write`]);
  await unlink(path);
  await write('api', 'again\n');
  expect(await read('api.log')).toBe('again\n');
  log?.end();
  await once(log as NodeJS.WritableStream, 'finish');
});
