import type { ChainConfig } from '../../config/chains-schema.ts';
import type { FactoryLayout } from '../factory-layouts.ts';
import { checkSettings } from './chain-settings.ts';
import { checkNodes } from './check-nodes.ts';
import { checkEnvironment } from './environment.ts';
import { type Finding, sortFindings } from './finding.ts';

/** Checks a chain's settings, the environment and, if wanted, the nodes whose URLs are known. */
export async function checkChain(
  chain: ChainConfig,
  callsNodes: boolean,
): Promise<{ readonly findings: readonly Finding[]; readonly factories: readonly FactoryLayout[] }> {
  const { findings, known } = checkEnvironment(chain, process.env);
  const isCalled = callsNodes && known.rpcUrls.length > 0;
  const nodes = isCalled ? await checkNodes(known) : null;
  return {
    findings: sortFindings([...findings, ...checkSettings(chain), ...(nodes?.findings ?? [])]),
    factories: nodes?.factories ?? [],
  };
}
