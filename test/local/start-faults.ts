import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, statfs, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { expect, vi } from 'vitest';
import type { ServiceError } from '../../local/services/service-error.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { EVENTUALLY, localCommand } from '../harness/local-service.ts';

/* What a running service is put through. */

/** Whether this may mount disks, and become other users. */
export const isRoot = process.getuid?.() === 0;

/** Makes a data folder whose log of capture is full, and where possible on its own disk. @returns removes that */
export async function makeDisk(data: string): Promise<() => void> {
  await mkdir(data);
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=500m,mode=755', 'tmpfs', data]);
  await mkdir(join(data, 'logs'));
  await symlink('/dev/full', join(data, 'logs/capture.log'));
  return () => void (isRoot && execFileSync('umount', ['-l', data]));
}

/** Settings of the processes of a run, by the names of their bundles. */
function environmentsOf({ pid }: ServiceProcess): Readonly<Record<string, string>> {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  const found = rows.map((row) => /^ *(\d+) .*dist\/(\w+)\.mjs/.exec(row)).filter((match) => match !== null);
  return Object.fromEntries(found.map(([, each, main]) => [main, readFileSync(`/proc/${each}/environ`, 'utf8')]));
}

/** No process knows the secret of the folder. */
export async function expectSecret(run: ServiceProcess, data: string): Promise<void> {
  const secret = await readFile(join(data, 'secret'), 'utf8');
  const processes = await vi.waitFor(() => {
    const found = environmentsOf(run);
    expect(Object.keys(found).sort()).toEqual(['api', 'builders', 'capture', 'indexer']);
    return found;
  }, EVENTUALLY);
  for (const [main, text] of Object.entries(processes)) {
    expect(text, main).toMatch(/REDIS_URL=redis:\/\/\w+:/);
    expect(text.includes(secret), main).toBe(false);
  }
}

/** Another run, of another chains file, is refused and changes nothing in the folder. */
export async function expectAlone(run: ServiceProcess, data: string, chains: string, rpcUrl: string): Promise<void> {
  const files = async () => {
    const names = ['chains.json', 'settings.sh', 'redis/appendonlydir'].map((name) => join(data, name));
    return [await readdir(data), ...(await Promise.all(names.map(async (name) => (await stat(name)).mtimeMs)))];
  };
  const before = await files();
  const others = join(dirname(data), 'others.json');
  await writeFile(others, (await readFile(chains, 'utf8')).replace('"one"', '"other"'));
  const second = localCommand('start', ['--chains', others, '--data', data], { RPC_OF_ONE: rpcUrl });
  const refused = await startService({ ...second, ready: /never/ }).catch((error: ServiceError) => error.log);
  const line = `start: ${data} is in use by process ${run.pid}`;
  expect(String(refused).trim().split(/\s*\n/).sort()).toEqual(['Stopped.', line]);
  expect(await files()).toEqual(before);
}

/** Fills the disk of a run until its Postgres ends for that, and gives it room again. */
export async function fillDisk({ recentOutput }: ServiceProcess, data: string): Promise<void> {
  const filler = join(data, 'filler');
  const { bavail, bsize } = await statfs(data);
  await writeFile(filler, Buffer.alloc((bavail + 1) * bsize)).catch((error: NodeJS.ErrnoException) => {
    expect(error.code).toBe('ENOSPC');
  });
  // The next file of its log has no room.
  const secret = await readFile(join(data, 'secret'), 'utf8');
  const settings = await readFile(join(data, 'settings.sh'), 'utf8');
  const url = new URL(/DATABASE_URL='([^']+)'/.exec(settings)?.[1] ?? '');
  const client = new pg.Client({
    connectionString: Object.assign(url, { username: 'postgres', password: secret }).href,
  });
  client.on('error', () => undefined);
  await client.connect();
  const use = async () => {
    for (;;)
      await client.query('SELECT pg_switch_wal(), pg_logical_emit_message(false, repeat($1, 1000000), $1)', ['x']);
  };
  await expect(use()).rejects.toThrow();
  const line = /^ {2}ended {2}postgres .*: no space left on the disk: starts again in \d+ s$/m;
  await vi.waitFor(() => expect(recentOutput()).toMatch(line), EVENTUALLY);
  await rm(filler);
}
