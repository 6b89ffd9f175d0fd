import { Command } from 'commander';
import pg from 'pg';
import type { Address } from 'viem';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import { canTraceWrites } from '../chain/trace-writes.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { hasOwnSource } from '../config/live-schema.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { readSecret } from '../config/read-secret.ts';
import { rolesOfLogin } from '../db/process-roles.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { type FactoryLayout, factoryLayouts } from './factory-layouts.ts';
import { printResult, runCommand } from './run-command.ts';

type Finding = { readonly chainId: number; readonly url: string; readonly problem: string };

const CALL_TIMEOUT_MS = 10_000;

const command = new Command('config:check')
  .description(
    'Validate a chains file, and warn when one login of the database serves several processes; with --rpc, also ask every RPC URL for its chain id, each factory for code, its newest pools for their layout, and nodes for what live sources need',
  )
  .argument('[file]', 'path of the chains file (default: CHAINS_CONFIG)')
  .option('--rpc', 'ask the chains')
  .option('--json', 'print the findings as JSON')
  .addHelpText(
    'after',
    `
URLs written as env:NAME must be set with --rpc.

Examples:
  npm run config:check -- config/mainnet.json              is the file well formed?
  npm run config:check -- config/mainnet.json --rpc        does each chain answer with its id, has each factory code?
  npm run --silent config:check -- config/mainnet.json --rpc --json

Settings: CHAINS_CONFIG, when no file is named, DATABASE_URL, if it is set, and the variables that the file names.
Exit codes: 0 no problem; 1 the file is wrong, or a chain, a factory or its pools are not what it says.`,
  )
  .action(check);

async function check(argument: string | undefined, options: { rpc?: true; json?: true }): Promise<void> {
  const path = argument ?? process.env.CHAINS_CONFIG;
  if (!path) throw new ConfigError('CHAINS_CONFIG is not set: name a file or set it');
  // Without --rpc only the shape is checked, so URLs from the environment need not be set.
  const file = loadChainsFile(path, options.rpc ? process.env : null);
  const checks = options.rpc ? await Promise.all(file.chains.map(checkChain)) : [];
  const findings = checks.flatMap((check) => check.findings);
  const factories = checks.flatMap((check) => check.factories);
  const warnings = await loginWarnings();
  const lines = [...warnings.map((text) => `warning: ${text}\n`), ...factories.map(layoutLine)];
  const text = lines.join('') + report(path, file.chains, findings);
  printResult(options.json, { path, findings, factories, warnings }, text);
  if (findings.length > 0) process.exitCode = 1;
}

/** Warns when the login may act as several processes: whoever breaks into one of them then has the rights of all. */
async function loginWarnings(): Promise<string[]> {
  const url = readSecret('DATABASE_URL', process.env);
  if (url === undefined) return [];
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CALL_TIMEOUT_MS });
  try {
    await client.connect();
    // The operator's login may act as the indexer too, since the operator runs backfills.
    const roles = (await rolesOfLogin(client)).filter((role) => role !== 'ptd_operator');
    const text = `DATABASE_URL: its login may act as ${roles.join(', ')}: give each process one of its own (docs/run/install.md)`;
    return roles.length > 1 ? [text] : [];
  } catch (error) {
    return [databaseSettingError(error, 'DATABASE_URL')?.message ?? `DATABASE_URL: ${String(error)}`];
  } finally {
    await client.end();
  }
}

async function checkChain(chain: ChainConfig) {
  const findings = (await Promise.all(chain.rpcUrls.map((url) => checkUrl(chain, url)))).flat();
  // When a URL leads to another chain, what it reports about factories means nothing.
  const factories = findings.length > 0 ? [] : await factoryLayouts(chain, CALL_TIMEOUT_MS);
  const url = new URL(chain.rpcUrls[0] ?? 'http://localhost').origin;
  const wrong = factories
    .filter(({ isAsConfigured }) => !isAsConfigured)
    .map(({ chainId, factory, layout, answersLike }) => {
      return { chainId, url, problem: `pools of ${factory} answer like ${answersLike}, not ${layout}` };
    });
  const live = findings.length > 0 ? [] : await liveFindings(chain, url);
  return { findings: [...findings, ...wrong, ...live], factories };
}

/** What the source of kind `own` lacks. */
async function liveFindings(chain: ChainConfig, url: string): Promise<Finding[]> {
  if (!hasOwnSource(chain)) return [];
  const canTrace = await canTraceWrites(openChainRpc(chain, CALL_TIMEOUT_MS)).catch(() => false);
  const problem =
    'the live source `own` needs `debug_traceCall` with `prestateTracer` and block overrides: no node has it';
  return canTrace ? [] : [{ chainId: chain.chainId, url, problem }];
}

const layoutLine = ({ chainId, factory, pools, answersLike }: FactoryLayout) =>
  `chain ${chainId}, factory ${factory}: ${pools} newest pools answer like ${answersLike}\n`;

async function checkUrl(chain: ChainConfig, url: string): Promise<Finding[]> {
  const origin = new URL(url).origin;
  const finding = (problem: string) => ({ chainId: chain.chainId, url: origin, problem });
  const rpc = openChainRpc({ chainId: chain.chainId, rpcUrls: [url] }, CALL_TIMEOUT_MS);
  try {
    const answered = await rpc.request('eth_chainId', [], Number);
    if (answered !== chain.chainId) return [finding(`answers with chain id ${answered}`)];
    const factories = chain.deployments.flatMap(factoriesOf);
    const codes = await Promise.all(factories.map((address) => rpc.code(address, 'latest')));
    return factories
      .filter((_, index) => codes[index] === '0x')
      .map((address) => finding(`no code at factory ${address}`));
  } catch (error) {
    return [finding(`does not answer: ${error instanceof RpcFailure ? error.code : 'unknown error'}`)];
  }
}

function factoriesOf({ poolFactory, anchoredProviderFactories, providerFactories }: DeploymentConfig): Address[] {
  return [poolFactory, ...anchoredProviderFactories, ...providerFactories.map(({ address }) => address)];
}

function report(path: string, chains: readonly ChainConfig[], findings: readonly Finding[]): string {
  if (findings.length === 0) return `${path}: ${chains.length} chains, no problem found\n`;
  return findings.map(({ chainId, url, problem }) => `chain ${chainId}, ${url}: ${problem}\n`).join('');
}

runCommand(command);
