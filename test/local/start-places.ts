import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { localCommand } from '../harness/local-service.ts';

/** A node of another chain than the one of the file, for one test. */
export async function otherChain(): Promise<Anvil> {
  const other = await startAnvil({ chainId: 5 });
  onTestFinished(() => other.stop());
  return other;
}

/** The login for people and the export reads the data, and nothing of the operator's. */
export async function expectAnalyst(data: string): Promise<void> {
  const settings = await readFile(join(data, 'settings.sh'), 'utf8');
  const [, url = ''] = /ANALYST_DATABASE_URL='([^']+)'/.exec(settings) ?? [];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int FROM read_model.pool');
  expect(rows).toEqual([{ count: expect.toSatisfy((count) => count > 0) }]);
  await expect(client.query('SELECT FROM operator.api_key')).rejects.toThrow('permission denied');
  await client.end();
  const days = ['--view', 'pool_day', '--from', '2026-01-01', '--to', '2026-01-02'];
  const args = [...days, '--format', 'csv', '--out', join(data, '../exported'), '--json'];
  const { command, args: all, cwd, env } = localCommand('export', args, { DATABASE_URL: url });
  const output = execFileSync(command, all, { cwd, env, encoding: 'utf8' });
  expect(output).toContain('"type":"end"');
}
