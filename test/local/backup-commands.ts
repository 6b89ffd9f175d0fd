import { type ChildProcess, execFile } from 'node:child_process';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { PROCESS_ROLES } from '../../db/process-roles.ts';
import { type Postgres, type PostgresOptions, startPostgres } from '../../local/services/postgres.ts';
import { createDatabase } from '../harness/database.ts';
import { localCommand } from '../harness/local-service.ts';
import { OWNER } from './database-content.ts';

/** How a command ends that did its work. */
export const DONE = { exitCode: 0, errors: '' };

/** An empty database for one test. */
export async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  return url;
}

export async function runOn(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

/** The only line of an error. */
export function lineOf(command: string, { exitCode, errors }: Ended): string {
  expect([1, 75]).toContain(exitCode);
  expect(errors).toMatch(/^.+\n$/);
  return errors.trim().replace(`${command}: `, '');
}

interface Ended {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command of this project to its end. @param onStart gets its process */
export function run(
  name: string,
  args: readonly string[],
  env = {},
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<Ended> {
  const { command, args: all, cwd, env: whole } = localCommand(name, args, env);
  return new Promise((resolve) => {
    const child = execFile(command, all, { cwd, env: whole }, (error, output, errors) =>
      resolve({ exitCode: error ? Number(error.code) : 0, output, errors }),
    );
    onStart(child);
  });
}

/** A Postgres for one test. */
export async function startedPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const postgres = await startPostgres(options);
  onTestFinished(() => postgres.stop());
  return postgres;
}

/** An empty database of another server, as a login that is no superuser. */
export async function databaseOfServer(): Promise<string> {
  const { url } = await startedPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const role of PROCESS_ROLES) await client.query(`DROP ROLE ${role.replace('ptd_', '')}, ${role}`);
  await client.query(`CREATE ROLE ${OWNER} LOGIN CREATEROLE PASSWORD 'owner'`);
  await client.query(`CREATE DATABASE pools OWNER ${OWNER}`);
  await client.end();
  return Object.assign(new URL(url), { username: OWNER, password: 'owner', pathname: '/pools' }).href;
}
