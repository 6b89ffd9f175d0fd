import { fileURLToPath } from 'node:url';
import { areContractsBuilt } from '../build-contracts.ts';
import { runToEnd } from '../services/service-process.ts';
import type { Part } from './supervisor.ts';

const COMPILE = fileURLToPath(new URL('../compile.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Compiles the contracts when they have changed, in a process of its own, so that everything else starts meanwhile. */
export async function compileContracts(): Promise<Part> {
  const stop = async () => undefined;
  if (areContractsBuilt()) return { note: 'compiled before', stop };
  await runToEnd({
    name: 'compiling the contracts',
    command: process.execPath,
    args: ['--import', 'tsx', COMPILE],
    cwd: ROOT,
  });
  return { note: 'compiled, kept for the next time', stop };
}
