import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Abi, Hex } from 'viem';
import { z } from 'zod';

/** What the compiler makes of one contract. */
export interface Artifact {
  readonly abi: Abi;
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex;
  readonly deployedBytecode: Hex;
}

export class CompilationError extends Error {
  readonly code = 'COMPILATION';
  override readonly name = 'CompilationError';
}

const CONTRACTS_FOLDER = fileURLToPath(new URL('./contracts', import.meta.url));
const CACHE_FOLDER = fileURLToPath(new URL('./.artifacts', import.meta.url));

const SETTINGS = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'cancun',
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

const bytecode = z.object({ object: z.string().transform((hex): Hex => `0x${hex}`) });

const CompilerOutput = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.custom<Abi>((value) => Array.isArray(value)),
          evm: z.object({ bytecode, deployedBytecode: bytecode }),
        }),
      ),
    )
    .default({}),
});

/**
 * Compiled contracts by name. They are compiled once per content of the sources and kept in a git-ignored folder.
 *
 * @throws CompilationError the compiler's errors and warnings
 */
export function buildContracts(): Record<string, Artifact> {
  const sources = readSources(CONTRACTS_FOLDER);
  const cached = cachePath(sources);
  try {
    return JSON.parse(readFileSync(cached, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const artifacts = compile(sources);
  store(cached, artifacts);
  return artifacts;
}

/** Whether {@link buildContracts} has nothing to compile. */
export function areContractsBuilt(): boolean {
  return existsSync(cachePath(readSources(CONTRACTS_FOLDER)));
}

type Sources = Record<string, { content: string }>;

function cachePath(sources: Sources): string {
  const content = JSON.stringify({ sources, SETTINGS, solc: solcVersion() });
  return join(CACHE_FOLDER, `${createHash('sha256').update(content).digest('hex')}.json`);
}

function readSources(folder: string): Sources {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sol'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(files.map((file) => [relative(folder, file), { content: readFileSync(file, 'utf8') }]));
}

function solcVersion(): string {
  return createRequire(import.meta.url)('solc/package.json').version;
}

function compile(sources: Sources): Record<string, Artifact> {
  // Loading the compiler takes a second: only when something has to be compiled.
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc');
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS });
  const output = CompilerOutput.parse(JSON.parse(solc.compile(input)));
  if (output.errors.length > 0) {
    throw new CompilationError(output.errors.map((error) => error.formattedMessage).join('\n'));
  }
  const contracts = Object.values(output.contracts).flatMap((file) => Object.entries(file));
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: evm.bytecode.object, deployedBytecode: evm.deployedBytecode.object },
    ]),
  );
}

/** Other processes may be reading or writing the same file: it appears as a whole, and only it stays. */
function store(path: string, artifacts: Record<string, Artifact>): void {
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const older = readdirSync(CACHE_FOLDER).filter((name) => name.endsWith('.json'));
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(artifacts));
  renameSync(partial, path);
  for (const name of older) rmSync(join(CACHE_FOLDER, name), { force: true });
}
