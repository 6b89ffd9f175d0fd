import { Command, InvalidArgumentError } from 'commander';
import type { Address } from 'viem';
import { calibrateFactory, findingsOf } from '../capture/calibration/calibrate-factory.ts';
import { writeCalibration } from '../capture/calibration/calibration-rows.ts';
import { openChainRpc } from '../chain/chain-rpc.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { completeChain } from '../db/complete-chain.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import type { Finding, InterpretationEvidence } from '../protocol/calibration.ts';
import { runMain } from '../runtime/run-main.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { EXIT_CODES, printResult, withDatabase } from './run-command.ts';

type Options = { chain: number; factory: Address; swaps?: number; write?: true; json?: true };

const RPC_TIMEOUT_MS = 10_000;
const MAX_SWAPS = 1_000;

const command = new Command('calibrate')
  .description('Ask a chain what is not publicly known of a factory, and say which interpretations agree with it')
  .requiredOption('--chain <id>', 'chain of the factory', chainIdArgument)
  .requiredOption('--factory <address>', 'pool factory of an enabled deployment', addressArgument)
  .option('--swaps <n>', 'recent swaps to look at, at most (default: as capture)', swapsArgument)
  .option('--write', "store what is decided as the operator's decision")
  .option('--json', 'print the findings as JSON')
  .addHelpText(
    'after',
    `
Undecided is a result: too few swaps stood alone in a block whose state the nodes still hold, or no interpretation holds. Capture
tries by itself until all is decided.

Examples:
  npm run calibrate -- --chain 8453 --factory 0x2a53833cc95548cf52c7b159110e22D3a9018f32
  npm run calibrate -- --chain 8453 --factory 0x2a53833cc95548cf52c7b159110e22D3a9018f32 --swaps 40 --write

Settings: CHAINS_CONFIG, DATABASE_URL, and the variables that the chains file names.
${EXIT_CODES}`,
  );

function swapsArgument(text: string): number {
  const swaps = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (swaps < 1 || swaps > MAX_SWAPS) throw new InvalidArgumentError(`not a number from 1 to ${MAX_SWAPS}`);
  return swaps;
}

async function calibrate({ chain: chainId, factory, swaps, write, json }: Options): Promise<void> {
  const { CHAINS_CONFIG } = readEnvironment(['CHAINS_CONFIG']);
  const { chains } = loadChainsFile(CHAINS_CONFIG);
  await withDatabase(async (database) => {
    const found = await readFoundContracts(database);
    const completed = chains.map((chain) => completeChain(chain, found));
    const [chain, deployment] = findDeployment(completed, chainId, factory);
    const rpc = openChainRpc(chain, RPC_TIMEOUT_MS);
    const findings = await calibrateFactory(database, { rpc, chainId }, deployment, swaps);
    if (write) await writeCalibration(database, { chainId, factory }, findings, 'operator');
    printResult(json, { chainId, factory, written: write === true, findings }, report(findings, write === true));
  });
}

function findDeployment(
  chains: readonly ChainConfig[],
  chainId: number,
  factory: Address,
): readonly [ChainConfig, DeploymentConfig] {
  const chain = chains.find((one) => one.chainId === chainId);
  const deployment = chain?.deployments.find(({ enabled, poolFactory }) => enabled && poolFactory === factory);
  if (!chain || !deployment) throw new ConfigError(`no enabled deployment of ${factory} on chain ${chainId}`);
  if (findingsOf(deployment).length === 0) throw new ConfigError(`nothing is to be found out about ${factory}`);
  return [chain, deployment];
}

function report(findings: readonly Finding[], written: boolean): string {
  const open = findings.filter(({ decided }) => decided === null).map(({ what }) => what);
  const last = open.length === 0 ? 'All is decided.' : `Undecided: ${open.join(', ')}.`;
  return `${findings.map(describe).join('')}${last}${written ? ' Stored.' : ''}\n`;
}

function describe({ what, decided, observations, decisive, interpretations }: Finding): string {
  const seen = `${observations} observations, ${decisive} distinguish interpretations`;
  return `${what}: ${decided ?? 'undecided'} (${seen})\n${interpretations.map(describeInterpretation).join('')}`;
}

function describeInterpretation({ name, agreed, contradicted, examples }: InterpretationEvidence): string {
  const counts = `  ${name}: ${agreed} agree, ${contradicted} contradict\n`;
  return `${counts}${examples.map((example) => `    ${example}\n`).join('')}`;
}

runMain(async () => {
  await calibrate(command.parse().opts<Options>());
});
