import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { runningProcess } from '../services/running-process.ts';
import { lockFolder } from './folder-lock.ts';

let folder: string;
let lock: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folder-lock-test-'));
  lock = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true }));

const ownerAt = (path: string) => readlink(path).then((owner) => Number.parseInt(owner, 10));

/** Locks the folder and waits; says how that went. */
async function startLocker(): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const script = `process.on('SIGTERM', () => process.exit()); setInterval(() => undefined, 1_000);
    const { lockFolder } = await import(${JSON.stringify(import.meta.resolve('./folder-lock.ts'))});
    await lockFolder(${JSON.stringify(folder)}).then(() => console.log('locked'), (error) => console.log(error.message));`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

test('a second process is refused, with the number of the first, until that ends', async () => {
  const { child } = await startLocker();
  await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${child.pid}`);
  expect(await ownerAt(lock)).toBe(child.pid);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await readdir(folder)).toEqual([]);
  await lockFolder(folder);
  expect(await ownerAt(lock)).toBe(process.pid);
});

test('of those that find the lock of a killed process, one takes it over', async () => {
  const first = await startLocker();
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  expect(await ownerAt(lock)).toBe(first.child.pid);
  const lockers = await Promise.all([startLocker(), startLocker(), startLocker()]);
  const winner = lockers.find(({ said }) => said === 'locked');
  expect(await ownerAt(lock)).toBe(winner?.child.pid);
  const others = lockers.filter((locker) => locker !== winner);
  for (const { said } of others) expect(said).toMatch(`${folder} is in use by process `);
});

test.runIf(process.platform === 'linux')('a number that went to another process, or to none, has no lock', async () => {
  await symlink(`${process.ppid} 1`, lock);
  await lockFolder(folder);
  expect(await ownerAt(lock)).toBe(process.pid);

  // Its parent never waits for it.
  const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => {
    parent.kill('SIGKILL');
  });
  const pid = Number((await once(parent.stdout, 'data'))[0]);
  onTestFinished(() => {
    process.kill(pid, 'SIGKILL');
  });
  const { startedAt } = (await runningProcess(pid)) ?? {};
  expect(startedAt).toMatch(/^\d+$/);
  await rm(lock);
  await symlink(`${pid} ${startedAt}`, lock);
  await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${pid}`);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => runningProcess(pid)).toBeNull();
  process.kill(pid, 0); // Its number is taken still.
  await lockFolder(folder);
  expect(await ownerAt(lock)).toBe(process.pid);
});
