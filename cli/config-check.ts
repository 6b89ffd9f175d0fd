import { Command } from 'commander';
import pg from 'pg';
import { ConfigError } from '../config/config-error.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { readSecret } from '../config/read-secret.ts';
import { rolesOfLogin } from '../db/process-roles.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { checkPrices } from './config-check/chain-settings.ts';
import { checkChain } from './config-check/check-chain.ts';
import { type Finding, findingLine, hasErrors, summaryLine } from './config-check/finding.ts';
import type { FactoryLayout } from './factory-layouts.ts';
import { printResult, runCommand } from './run-command.ts';

const CALL_TIMEOUT_MS = 10_000;

const command = new Command('config:check')
  .description(
    'Validate a chains file and find what it lacks: variables, contracts without which pools are red, sockets; warn when one login of the database serves several processes. With --rpc, also call every node for its chain id, code of factories and Multicall3, overrides and block time, and the newest pools of each factory for their layout',
  )
  .argument('[file]', 'path of the chains file (default: CHAINS_CONFIG)')
  .option('--rpc', 'call the nodes')
  .option('--json', 'print the findings as JSON')
  .addHelpText(
    'after',
    `
Findings are errors, warnings (less is served) and notes, by chain.

Examples:
  npm run config:check -- config/mainnet.json              what does the file lack, and the environment?
  npm run config:check -- config/mainnet.json --rpc        does each chain answer with its id, has each factory code?
  npm run --silent config:check -- config/mainnet.json --rpc --json

Settings: CHAINS_CONFIG, when no file is named, DATABASE_URL, if it is set, and the variables that the file names.
Exit codes: 0 no error; 1 the file is wrong, a URL is not set, or a node, a factory or its pools are not what it says.`,
  )
  .action(check);

async function check(argument: string | undefined, options: { rpc?: true; json?: true }): Promise<void> {
  const path = argument ?? process.env.CHAINS_CONFIG;
  if (!path) throw new ConfigError('CHAINS_CONFIG is not set: name a file or set it');
  // References stay as they are, so that each variable that is not set becomes a finding.
  const file = loadChainsFile(path, null, argument === undefined ? undefined : 'file');
  const { chains } = file;
  const checks = await Promise.all(chains.map((chain) => checkChain(chain, options.rpc ?? false)));
  const ofAll = [...(await loginFindings()), ...checkPrices(file)];
  const findings = [...ofAll, ...checks.flatMap((one) => one.findings)];
  const factories = checks.flatMap((one) => one.factories);
  const lines = checks.flatMap((one) => [...one.factories.map(layoutLine), ...one.findings.map(findingLine)]);
  const text = [...ofAll.map(findingLine), ...lines, summaryLine(path, chains.length, findings)].join('');
  printResult(options.json, { path, findings, factories }, text);
  if (hasErrors(findings)) process.exitCode = 1;
}

/** Warns when the login may act as several processes: whoever breaks into one of them then has the rights of all. */
async function loginFindings(): Promise<Finding[]> {
  return (await loginProblems()).map((problem) => ({ level: 'warning', chainId: null, url: null, problem }));
}

async function loginProblems(): Promise<string[]> {
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

const layoutLine = ({ chainId, factory, pools, answersLike }: FactoryLayout) =>
  `chain ${chainId}, factory ${factory}: ${pools} newest pools answer like ${answersLike}\n`;

runCommand(command);
