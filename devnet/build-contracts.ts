import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import type { Abi, Hex } from 'viem';
import { z } from 'zod';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

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

const CONTRACTS_FOLDER = `${PROJECT_ROOT}devnet/contracts`;
const COMPILED = `${PROJECT_ROOT}devnet/compiled-contracts.json`;

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

/** Compiled contracts by name, and the digest of what they were compiled from. */
export interface CompiledContracts {
  readonly digest: string;
  readonly artifacts: Readonly<Record<string, Artifact>>;
}

/** The committed ones: `npm run contracts` writes them. */
export function readContracts(): CompiledContracts {
  return JSON.parse(readFileSync(COMPILED, 'utf8'));
}

/**
 * Compiles the contracts of the devnet: ten seconds.
 *
 * @throws CompilationError the compiler's errors and warnings
 */
export function compileContracts(): CompiledContracts {
  return { digest: contractsDigest(), artifacts: compile(readSources(CONTRACTS_FOLDER)) };
}

/** Changes with the sources, the settings and the version of the compiler. */
export function contractsDigest(): string {
  const content = JSON.stringify({ sources: readSources(CONTRACTS_FOLDER), SETTINGS, solc: solcVersion() });
  return createHash('sha256').update(content).digest('hex');
}

type Sources = Record<string, { content: string }>;

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

/** A line for each contract. */
function writeContracts({ digest, artifacts }: CompiledContracts): void {
  const lines = Object.entries(artifacts).map(([name, artifact]) => `"${name}":${JSON.stringify(artifact)}`);
  writeFileSync(COMPILED, `{"digest":"${digest}","artifacts":{\n${lines.join(',\n')}\n}}\n`);
}

if (process.argv[1]?.endsWith('/build-contracts.ts')) writeContracts(compileContracts());
