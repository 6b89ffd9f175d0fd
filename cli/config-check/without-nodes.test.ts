import { readFile } from 'node:fs/promises';
import { expect, inject, test, vi } from 'vitest';
import { loginUrl } from '../../local/services/process-logins.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runCheck, writeChain } from './run-check.fixture.ts';

/* The command without --rpc: it calls no node. */

// Each check is a process of its own, which a busy machine takes seconds to start.
vi.setConfig({ testTimeout: 180_000 });

const CHAIN_ID = 31337;
/** Nothing listens there. */
const NODE = 'http://127.0.0.1:1';

const folder = startedWorld(() => createTempFolder('config-check'));
const address = (digit: string) => `0x${digit.repeat(40)}`;

/** A chains file of one chain without faults, changed as given. */
function fileWith(changes: Record<string, unknown> = {}): Promise<string> {
  const deployment = {
    contractVersion: 'v1',
    layout: 'flat',
    fromBlock: 0,
    poolFactory: address('1'),
    stopLoss: address('2'),
    priceVelocityGuard: address('3'),
    anchoredProviderFactories: [address('4')],
    providerFactories: [{ address: address('5') }],
  };
  const chain = { chainId: CHAIN_ID, name: 'devnet', rpcUrls: [NODE, NODE], blockTimeMs: 1000 };
  return writeChain(folder, { ...chain, deployments: [deployment], ...changes });
}

const counts = (lines: readonly string[], level: string) =>
  lines.filter((line) => line.startsWith(`${level}: `)).length;

test('the file of the real chains lacks its URLs, and what a pool needs to be more than red', async () => {
  const { exitCode, stdout, stderr } = await runCheck(['config/mainnet.json']);
  expect([exitCode, stderr]).toEqual([1, '']);
  const lines = stdout.split('\n');
  const chains = [1, 56, 137, 143, 999, 4326, 4663, 8453, 42161, 43114];
  for (const chain of chains) {
    const found = lines.filter((line) => line.includes(`: chain ${chain}: `));
    expect(found[0]).toBe(`error: chain ${chain}: RPC_URL_${chain} is not set: a URL of chain ${chain} comes from it`);
    expect(found.some((line) => line.includes('every pool has stop_loss_missing, so its tier is red'))).toBe(true);
    expect(found.some((line) => line.includes('every pool has app_missing, so its tier is red'))).toBe(true);
  }
  const polled = lines.filter((line) => line.includes('heads are polled')).map((line) => line.split(': ')[1]);
  expect(polled).toEqual(['chain 56', 'chain 143', 'chain 4663', 'chain 42161']);
  // By chain, and then by level.
  const rank = (line: string) =>
    100 * chains.findIndex((chain) => line.includes(`chain ${chain}: `)) +
    ['error', 'warning', 'note'].findIndex((level) => line.startsWith(`${level}: `));
  expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).toSorted((one, other) => rank(one) - rank(other)));
  expect(lines.at(-1)).toBe('config/mainnet.json: 10 chains, 10 errors, 48 warnings, 10 notes');
  expect(['error', 'warning', 'note'].map((level) => counts(lines, level))).toEqual([10, 48, 10]);
});

test('with its URLs and keys, the file of the real chains has warnings and notes alone', async () => {
  const text = await readFile('config/mainnet.json', 'utf8');
  const urls = [...text.matchAll(/env:(\w+)/g)].map(([, name]) => [name, 'https://node.example/secret']);
  const keys = [...text.matchAll(/"apiKeyEnv": "(\w+)"/g)].map(([, name]) => [name, 'secret']);
  expect([urls.length, keys.length]).toEqual([10, 4]);
  const { exitCode, stdout } = await runCheck(['config/mainnet.json'], Object.fromEntries([...urls, ...keys]));
  expect([exitCode, stdout.split('\n').at(-1)]).toEqual([
    0,
    'config/mainnet.json: 10 chains, 0 errors, 44 warnings, 10 notes',
  ]);
  expect(stdout).not.toContain('secret');
});

test('a file without faults has no findings; another has them as JSON, too', async () => {
  const path = await fileWith();
  expect(await runCheck([path])).toEqual({ exitCode: 0, stdout: `${path}: 1 chain, no problem found`, stderr: '' });
  const single = await fileWith({ rpcUrls: [NODE] });
  const problem = 'one URL in rpcUrls: nothing replaces its node when that fails';
  expect((await runCheck([single])).stdout).toBe(
    `note: chain ${CHAIN_ID}: ${problem}\n${single}: 1 chain, 0 errors, 0 warnings, 1 note`,
  );
  const { exitCode, stdout } = await runCheck([single, '--json']);
  const findings = [{ level: 'note', chainId: CHAIN_ID, url: null, problem }];
  expect([exitCode, JSON.parse(stdout)]).toEqual([0, { path: single, findings, factories: [] }]);
});

test('a login that may act as several processes is a warning, one of its own is not', async () => {
  const file = await fileWith();
  const one = await runCheck([file], { DATABASE_URL: inject('postgresUrl') });
  expect(one.exitCode).toBe(0);
  expect(one.stdout).toMatch(
    /^warning: DATABASE_URL: its login may act as ptd_indexer, ptd_capture, ptd_api, ptd_builders: /,
  );
  const own = await runCheck([file, '--json'], { DATABASE_URL: loginUrl(inject('postgresUrl'), 'operator') });
  expect(JSON.parse(own.stdout)).toMatchObject({ findings: [] });
});

test('a wrong file is named with the field at fault, in one line', async () => {
  const path = await fileWith({ blockTimeMs: -1 });
  const { exitCode, stdout, stderr } = await runCheck([path]);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^file \([^\n]+\): chains\.0\.blockTimeMs: [^\n]+$/);
  expect((await runCheck(['/nowhere.json'])).stderr).toBe('file: cannot read /nowhere.json (ENOENT)');
});

test('no file at all is a missing setting', async () => {
  expect(await runCheck([], { CHAINS_CONFIG: '' })).toMatchObject({
    exitCode: 1,
    stderr: 'CHAINS_CONFIG is not set: name a file or set it',
  });
});
