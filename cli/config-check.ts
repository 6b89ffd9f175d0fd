import { Command } from 'commander';
import type { Address } from 'viem';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { type FactoryLayout, factoryLayouts } from './factory-layouts.ts';
import { printResult, runCommand } from './run-command.ts';

type Finding = { readonly chainId: number; readonly url: string; readonly problem: string };

const CALL_TIMEOUT_MS = 10_000;

const command = new Command('config:check')
  .description(
    'Validate a chains file; with --rpc, also ask every RPC URL for its chain id, each factory for code, and its newest pools for their layout',
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

Settings: CHAINS_CONFIG, when no file is named, and the variables that the file names.
Exit codes: 0 no problem; 1 the file is wrong, or a chain, a factory or its pools are not what it says.`,
  )
  .action(check);

async function check(argument: string | undefined, options: { rpc?: true; json?: true }): Promise<void> {
  const path = argument ?? process.env.CHAINS_CONFIG;
  if (!path) throw new ConfigError('CHAINS_CONFIG is not set: name a file or set it');
  // Without --rpc the shape alone is checked: a URL that comes from the environment need not be there.
  const file = loadChainsFile(path, options.rpc ? process.env : null);
  const checks = options.rpc ? await Promise.all(file.chains.map(checkChain)) : [];
  const findings = checks.flatMap((check) => check.findings);
  const factories = checks.flatMap((check) => check.factories);
  const text = factories.map(layoutLine).join('') + report(path, file.chains, findings);
  printResult(options.json, { path, findings, factories }, text);
  if (findings.length > 0) process.exitCode = 1;
}

async function checkChain(chain: ChainConfig) {
  const findings = (await Promise.all(chain.rpcUrls.map((url) => checkUrl(chain, url)))).flat();
  // What a chain that is not the right one says of factories means nothing.
  const factories = findings.length > 0 ? [] : await factoryLayouts(chain, CALL_TIMEOUT_MS);
  const url = new URL(chain.rpcUrls[0] ?? 'http://localhost').origin;
  const wrong = factories
    .filter(({ isAsConfigured }) => !isAsConfigured)
    .map(({ chainId, factory, layout, answersLike }) => {
      return { chainId, url, problem: `pools of ${factory} answer like ${answersLike}, not ${layout}` };
    });
  return { findings: [...findings, ...wrong], factories };
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
