import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'viem';
import { z } from 'zod';

const SOURCE = fileURLToPath(new URL('./GuardSearch.sol', import.meta.url));
const TARGET = fileURLToPath(new URL('./guard-search-code.ts', import.meta.url));

/** Code that every chain runs: nothing newer than Shanghai. */
const SETTINGS = {
  optimizer: { enabled: true, runs: 10_000 },
  viaIR: true,
  evmVersion: 'shanghai',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
};

const Output = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).default([]),
  contracts: z
    .object({
      'GuardSearch.sol': z.object({
        GuardSearch: z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
      }),
    })
    .optional(),
});

/**
 * Creation code of `GuardSearch.sol`.
 *
 * @throws Error the compiler's errors and warnings
 */
export function compileGuardSearch(): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc');
  const sources = { 'GuardSearch.sol': { content: readFileSync(SOURCE, 'utf8') } };
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS });
  const { errors, contracts } = Output.parse(JSON.parse(solc.compile(input)));
  const object = contracts?.['GuardSearch.sol'].GuardSearch.evm.bytecode.object;
  if (errors.length > 0 || !object) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return `0x${object}`;
}

if (fileURLToPath(import.meta.url) === argv[1]) {
  const code = compileGuardSearch();
  const comment =
    '/** Creation code of `GuardSearch.sol`, made by `npx tsx api/snapshots/guards/compile-guard-search.ts`. */';
  writeFileSync(
    TARGET,
    `import type { Hex } from 'viem';\n\n${comment}\nexport const GUARD_SEARCH_CODE: Hex =\n  '${code}';\n`,
  );
  stdout.write(`${TARGET}: ${(code.length - 2) / 2} bytes\n`);
}
