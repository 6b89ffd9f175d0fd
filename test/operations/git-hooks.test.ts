import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';

const folder = startedWorld(() => createTempFolder('git-hooks'));
/** `prepare`: what `npm ci` runs last. */
const scripts = openWorld(async () => {
  const file = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  return file.scripts as { readonly prepare: string };
});
let repository: string;
let count = 0;

beforeEach(async () => {
  repository = join(folder.path, String(count++));
  await cp(join(PROJECT_ROOT, '.githooks'), join(repository, '.githooks'), { recursive: true });
});

/**
 * The environment of Git in these tests, without the settings of the user and without the variables
 * that Git gives a hook.
 */
const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const options = () => ({ cwd: repository, env, extendEnv: false, reject: false }) as const;
const git = (...args: readonly string[]) =>
  execa('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], options());
const install = (path = env.PATH) =>
  execa('/bin/sh', ['-c', scripts.prepare], { ...options(), env: { ...env, PATH: path ?? '' } });
const commit = (message: string) => git('commit', '--allow-empty', '--message', message);
const subjectOf = async () => (await git('log', '-1', '--format=%s')).stdout;

const startRepository = async () => {
  await git('init');
  expect((await install()).exitCode).toBe(0);
};

test('a subject may have 74 characters, and one of 75 is rejected in one line', async () => {
  await startRepository();
  for (const subject of ['x: y', `scope: ${'s'.repeat(67)}`, `scope: ${'ü'.repeat(67)}`]) {
    expect(await commit(`${subject}\n\n${'b'.repeat(90)}`)).toMatchObject({ exitCode: 0 });
    expect(await subjectOf()).toBe(subject);
  }
  const long = `scope: ${'s'.repeat(68)}`;
  const { exitCode, stderr } = await commit(long);
  expect([exitCode, stderr]).toEqual([1, `commit-msg: the subject has 75 characters, more than 74: ${long}`]);
  expect(await subjectOf()).not.toBe(long);
});

test('all lines up to an empty one are the subject, but comments', async () => {
  await startRepository();
  const half = 's'.repeat(40);
  expect((await commit(`${half}\n${half}`)).stderr).toContain('the subject has 81 characters');
  await writeFile(join(repository, 'message'), `\n# ${half}${half}\n${half}\n# ------ >8 ------\n${half}\n`);
  expect(await git('commit', '--allow-empty', '--cleanup=scissors', '--file=message')).toMatchObject({ exitCode: 0 });
});

test('commits whose subject Git makes may be longer', async () => {
  await startRepository();
  const subject = `scope: ${'s'.repeat(67)}`;
  await commit(subject);
  expect(await git('commit', '--allow-empty', '--fixup=HEAD')).toMatchObject({ exitCode: 0 });
  expect(await subjectOf()).toBe(`fixup! ${subject}`);
  await commit(subject);
  await writeFile(join(repository, 'file'), '');
  await git('add', 'file');
  await commit(`${subject.slice(1)}s`);
  expect(await git('revert', '--no-edit', 'HEAD')).toMatchObject({ exitCode: 0 });
  expect((await subjectOf()).length).toBeGreaterThan(74);
  await git('checkout', '-b', 'b'.repeat(80), 'HEAD~1');
  await commit('x: z');
  await git('checkout', '-');
  expect(await git('merge', '--no-ff', '--no-edit', 'b'.repeat(80))).toMatchObject({ exitCode: 0 });
  expect((await subjectOf()).length).toBeGreaterThan(74);
});

test('what holds passwords and keys by the pages for operators is left out', async () => {
  await cp(join(PROJECT_ROOT, '.gitignore'), join(repository, '.gitignore'));
  await git('init');
  const secret = [
    'data/settings.sh',
    '.env',
    'chains.env',
    'database.env',
    'redis.env',
    'operator.dump',
    'pools.sql.gz',
  ];
  const { stdout } = await git('check-ignore', '.env.example', 'chains.env.example', ...secret);
  expect(stdout.split('\n')).toEqual(secret);
});

test('an installation without a repository, or without Git, changes and says nothing', async () => {
  const quiet = { exitCode: 0, stdout: '', stderr: '' };
  expect(await install()).toMatchObject(quiet);
  await git('init');
  expect(await install('/nonexistent')).toMatchObject(quiet);
  expect((await git('config', 'core.hooksPath')).exitCode).toBe(1);
  // The project lies in the folder of another repository.
  const outer = repository;
  repository = join(outer, 'inner');
  await mkdir(repository);
  expect(await install()).toMatchObject(quiet);
  expect((await git('config', 'core.hooksPath')).exitCode).toBe(1);
  repository = outer;
  expect(await install()).toMatchObject(quiet);
  expect((await git('config', 'core.hooksPath')).stdout).toBe('.githooks');
});

test('a repository whose settings cannot be written is no reason to fail', async () => {
  await git('init');
  await writeFile(join(repository, '.git/config.lock'), '');
  expect(await install()).toMatchObject({ exitCode: 0, stderr: '' });
});

test('an installation without the tools of development makes no types, although tsx is installed elsewhere', async () => {
  await cp(join(PROJECT_ROOT, 'client/write-schema.ts'), join(repository, 'client/write-schema.ts'));
  const elsewhere = join(repository, 'bin');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'tsx'), '#!/bin/sh\n', { mode: 0o755 });
  const installed = await install(`${elsewhere}:${env.PATH}`);
  expect(installed).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
});
