import { type Finding, findingLine, summaryLine } from '../config-check/finding.ts';
import type { UnwrittenContract } from './choose-contracts.ts';
import type { Completion } from './complete-file.ts';
import type { FoundDeployment } from './find-deployment.ts';
import type { ProbedAbilities } from './probed-abilities.ts';

/** What nodes do. `parts`: whether they follow parts of blocks; null without a URL of a socket. */
interface Abilities extends ProbedAbilities {
  readonly parts: boolean | null;
}

/** All that the command found and did. */
export interface Report extends Completion {
  readonly path: string;
  readonly chainId: number;
  readonly node: Abilities;
  readonly factories: readonly FoundDeployment[];
  readonly unwritten: readonly UnwrittenContract[];
  readonly findings: readonly Finding[];
}

const ABILITIES: Readonly<Record<keyof Abilities, string>> = {
  stateOverrides: 'state overrides',
  blockOverrides: 'block overrides',
  traces: 'debug_traceCall',
  socket: 'heads by socket',
  parts: 'parts of blocks',
};

/** The report for humans: what was found, what was written and left, and what follows from what is missing. */
export function describe({ path, chainId, node, factories, unwritten, written, left, findings }: Report): string {
  const abilities = Object.entries(ABILITIES).map(([key, name]) => `${name} ${answer(node[key as keyof Abilities])}`);
  const lines = [
    `chain ${chainId}: ${abilities.join(', ')}`,
    ...factories.flatMap(factoryLines),
    ...unwritten.map(unwrittenLine),
    ...left.map(({ key, ...values }) => `left: ${key} is ${text(values.file)}; found: ${text(values.found)}`),
    `${path}: ${added(chainId, written)}`,
  ];
  const rest = [...findings.map(findingLine), summaryLine(path, 1, findings)];
  return `${lines.join('\n')}\n${rest.join('')}`;
}

function added(chainId: number, written: readonly string[]): string {
  if (written.length === 0) return 'nothing to add';
  return written.includes(`${chainId}.chainId`) ? `added chain ${chainId}` : `added ${written.join(', ')}`;
}

const answer = (does: boolean | null) => (does === null ? 'unknown' : does ? 'yes' : 'no');
const text = (value: unknown) => JSON.stringify(value);

function factoryLines({
  poolFactory,
  layout,
  fromBlock,
  maker,
  contracts,
  unsearchedProviders,
}: FoundDeployment): string[] {
  return [
    `factory ${poolFactory}: ${layout}, since block ${fromBlock}, made by ${maker ?? 'an unknown account'}`,
    ...contracts
      .filter(({ isProven }) => isProven)
      .map(({ role, address }) => `found: ${role} ${address}, made by the same account`),
    ...(unsearchedProviders > 0
      ? [`not shown: which contracts made ${unsearchedProviders} providers of its pools`]
      : []),
  ];
}

function unwrittenLine({ poolFactory, role, address, reason }: UnwrittenContract): string {
  const place = `not added: ${role} ${address} of pools of ${poolFactory}`;
  if (reason === 'other') return `${place}: more pools use another one`;
  return `${place}: nothing shows that who made the factory made it, so it may only look like one; --trust ${address} takes it`;
}
