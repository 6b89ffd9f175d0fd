import type { Address } from 'viem';
import { anyNodeHas } from '../../chain/ability-probes.ts';
import { isOffByThird, measureBlockTime } from '../../chain/block-time.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { openRetryingRpc } from '../../chain/discovery/retrying-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import { hasOwnSource, partSource } from '../../config/live-schema.ts';
import { type FactoryLayout, factoryLayouts } from '../factory-layouts.ts';
import { checkParts } from './check-parts.ts';
import { type Finding, hasErrors } from './finding.ts';

type Problem = Pick<Finding, 'level' | 'problem' | 'isSilent'>;

const error = (problem: string): Problem => ({ level: 'error', problem });
const warning = (problem: string): Problem => ({ level: 'warning', problem });
const note = (problem: string): Problem => ({ level: 'note', problem });

/** Calls all nodes of a chain, whose URLs are known, and its contracts. */
export async function checkNodes(
  chain: ChainConfig,
): Promise<{ readonly findings: Finding[]; readonly factories: FactoryLayout[] }> {
  const ofNodes = await Promise.all(chain.rpcUrls.map((url) => checkNode(chain, url)));
  const isAnswered = ofNodes.some((ofNode) => !ofNode.some(({ isSilent }) => isSilent));
  // Another node of the chain replaces a silent one.
  const findings = ofNodes.flat().map((it) => (isAnswered && it.isSilent ? { ...it, level: 'warning' as const } : it));
  // When a URL leads to another chain, what it reports about factories means nothing.
  if (hasErrors(findings)) return { findings, factories: [] };
  const rpc = openRetryingRpc(chain.rpcUrls);
  const factories = await factoryLayouts(rpc, chain);
  const url = new URL(chain.rpcUrls[0] ?? 'http://localhost').origin;
  const problems = [...factories.flatMap(layoutProblems), ...(await traceProblems(rpc, chain))];
  findings.push(...(await checkParts(chain)));
  return { findings: [...findings, ...problems.map((it) => ({ ...it, chainId: chain.chainId, url }))], factories };
}

const layoutProblems = ({ isAsConfigured, factory, answersLike, layout }: FactoryLayout): Problem[] =>
  isAsConfigured ? [] : [error(`pools of ${factory} answer like ${answersLike}, not ${layout}`)];

/** What the source of kind `own` lacks: one node that can trace is enough. */
async function traceProblems(rpc: ChainRpc, chain: ChainConfig): Promise<Problem[]> {
  if (!hasOwnSource(chain)) return [];
  const canTrace = await anyNodeHas(rpc.endpoints, 'traces').catch(() => false);
  const problem =
    'the live source `own` needs `debug_traceCall` with `prestateTracer` and block overrides: no node has it';
  return canTrace ? [] : [error(problem)];
}

async function checkNode(chain: ChainConfig, url: string): Promise<Finding[]> {
  const problems = await nodeProblems(openRetryingRpc([url]), chain);
  return problems.map((problem) => ({ ...problem, chainId: chain.chainId, url: new URL(url).origin }));
}

async function nodeProblems(rpc: ChainRpc, chain: ChainConfig): Promise<Problem[]> {
  const missing = await codeProblems(rpc, chain).catch((failure): Problem[] => [
    { ...error(`does not answer: ${reasonOf(failure)}`), isSilent: true },
  ]);
  if (missing.length > 0) return missing;
  const unknown = (what: string) => (failure: unknown) => [warning(`does not show its ${what}: ${reasonOf(failure)}`)];
  const [overrides, blockTime] = await Promise.all([
    overrideProblems(rpc, chain).catch(unknown('overrides')),
    blockTimeProblems(rpc, chain).catch(unknown('block time')),
  ]);
  return [...overrides, ...blockTime];
}

/** Whether the node is of another chain, and which contracts have no code there. */
async function codeProblems(rpc: ChainRpc, { chainId, multicall3, deployments }: ChainConfig): Promise<Problem[]> {
  const answered = await rpc.request('eth_chainId', [], Number);
  if (answered !== chainId) return [error(`answers with chain id ${answered}`)];
  const contracts = [
    ...deployments.flatMap(factoriesOf).map((address) => ({ address, name: 'factory' })),
    { address: multicall3, name: 'multicall3' },
  ];
  const codes = await Promise.all(contracts.map(({ address }) => rpc.code(address, { block: 'latest' })));
  return contracts
    .filter((_, index) => codes[index] === '0x')
    .map(({ address, name }) => error(`no code at ${name} ${address}`));
}

async function overrideProblems(rpc: ChainRpc, { live }: ChainConfig): Promise<Problem[]> {
  const [state, stateAndBlock] = await Promise.all([
    anyNodeHas(rpc.endpoints, 'stateOverrides'),
    anyNodeHas(rpc.endpoints, 'blockOverrides'),
  ]);
  const problems = state ? [] : [warning('applies no state overrides: prices are inverted')];
  if (stateAndBlock) return problems;
  if (partSource(live)) return problems;
  if (live) return [...problems, warning('applies no state and block overrides together: no live quotes from it')];
  return state ? [note('applies no block overrides, which live quotes would need')] : problems;
}

async function blockTimeProblems(rpc: ChainRpc, { blockTimeMs }: ChainConfig): Promise<Problem[]> {
  const measured = await measureBlockTime(rpc);
  if (measured === null || !isOffByThird(measured.meanMs, blockTimeMs)) return [];
  const { blocks, meanMs } = measured;
  return [warning(`blockTimeMs is ${blockTimeMs}, but the last ${blocks} blocks took ${meanMs} ms each`)];
}

function factoriesOf({ poolFactory, anchoredProviderFactories, providerFactories }: DeploymentConfig): Address[] {
  return [poolFactory, ...anchoredProviderFactories, ...providerFactories.map(({ address }) => address)];
}

const reasonOf = (failure: unknown): string => (failure instanceof RpcFailure ? failure.reason : 'unknown error');
