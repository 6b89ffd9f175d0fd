import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readRepairs } from '../indexer/backfill/repair.ts';
import { backfill, killLeftCommands } from '../test/backfill/backfill-world.ts';
import { createMigratedDatabase } from '../test/harness/database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';

const home = startedWorld(createMigratedDatabase);
let folder: string;
let hangingNode: Server;
let world: { readonly databaseUrl: string; readonly chainsFile: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backfill-'));
  hangingNode = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(hangingNode, 'listening');
  const chainsFile = join(folder, 'chains.json');
  world = { databaseUrl: home.url, chainsFile };
  const { port } = hangingNode.address() as AddressInfo;
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: `0x${'1'.repeat(40)}` };
  const chain = { chainId: 7, name: 'silent', rpcUrls: [`http://127.0.0.1:${port}`], blockTimeMs: 1_000 };
  await writeFile(chainsFile, JSON.stringify({ chains: [{ ...chain, deployments: [deployment] }] }));
});

afterAll(async () => {
  killLeftCommands();
  hangingNode.closeAllConnections();
  hangingNode.close();
  await rm(folder, { recursive: true });
});

async function run(parameters: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const command = backfill(world, parameters, env);
  return { exitCode: await command.ended, stdout: command.stdout(), stderr: command.stderr() };
}

test('help has examples, settings and exit codes', async () => {
  const { exitCode, stdout } = await run(['--help']);
  expect(exitCode).toBe(0);
  for (const part of [
    'Examples:',
    'npm run backfill -- --chains 1,56',
    'Settings: CHAINS_CONFIG',
    'Exit codes: 0 done',
  ]) {
    expect(stdout).toContain(part);
  }
});

test('a mistake ends it with 1 and one line that names it', async () => {
  const mistakes: [string[], Record<string, string>, RegExp][] = [
    [['--chains', '1;56'], {}, /^error: option '--chains <ids>' argument '1;56' is invalid\. not a chain id/],
    [['--schema', 'Onchain'], {}, /^error: option '--schema <name>' argument 'Onchain' is invalid\. not a name/],
    [['--chains', '8'], {}, /^--chains: chain 8 has no enabled deployment in CHAINS_CONFIG\n$/],
    [[], { CHAINS_CONFIG: '' }, /^CHAINS_CONFIG is not set: [^\n]+\n$/],
    [[], { CHAINS_CONFIG: '/nowhere.json' }, /^CHAINS_CONFIG: cannot read \/nowhere\.json \(ENOENT\)\n$/],
    [['list'], { DATABASE_URL: '' }, /^DATABASE_URL is not set: Postgres that all processes write to.\n$/],
    [['drop', 'nothing'], {}, /^"nothing" is no index of this database\n$/],
  ];
  const outcomes = await Promise.all(mistakes.map(([parameters, env]) => run(parameters, env)));
  for (const [index, [parameters, , stderr]] of mistakes.entries()) {
    expect(outcomes[index], parameters.join(' ')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  }
});

test('an unreachable database ends it with 75 and one line', async () => {
  const { exitCode, stderr } = await run(['list'], { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' });
  expect(exitCode).toBe(75);
  expect(stderr).toMatch(/^DATABASE_URL: the database is unreachable[^\n]*\n$/);
  expect(stderr).not.toContain('secret');
});

test('interrupted, it says how to continue, and continues', async () => {
  for (const resumed of [false, true]) {
    const command = backfill(world, ['--json']);
    await new Promise((resolve) => command.child.stdout?.once('data', resolve));
    expect(command.lines('begin')).toEqual([
      { type: 'begin', schema: 'onchain_1', replaces: null, refetched: [], attempt: 0, resumed },
    ]);
    command.child.kill('SIGINT');
    expect(await command.ended).toBe(130);
    expect(command.stderr()).toMatch(/^interrupted: the same command continues$/m);
  }
});

test('of what an indexer repairs by itself, a difference that two comparisons found is no part yet', async () => {
  const database = new pg.Pool({ connectionString: home.url, max: 1 });
  onTestFinished(() => database.end());
  await createOnchainTables(database);
  await database.query(
    `INSERT INTO operator.index_audit VALUES (7, $1, $1, $2, now(), 90, 80, NULL, now(), now(), '{totals}', '{}')`,
    [`0x${'a'.repeat(40)}`, ONCHAIN_SCHEMA],
  );
  expect([...(await readRepairs(database)).fromBlocks]).toEqual([[7, 81]]);
  expect(await run(['--repair', '--due'])).toEqual({ exitCode: 0, stdout: 'Nothing to repair.\n', stderr: '' });
});
