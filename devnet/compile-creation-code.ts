import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'viem';
import { z } from 'zod';

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
    .record(
      z.string(),
      z.record(z.string(), z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) })),
    )
    .default({}),
});

/**
 * Creation code of the contract that a Solidity file is named after.
 *
 * @throws Error the compiler's errors and warnings
 */
export function compileCreationCode(source: string): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc');
  const file = basename(source);
  const sources = { [file]: { content: readFileSync(source, 'utf8') } };
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS });
  const { errors, contracts } = Output.parse(JSON.parse(solc.compile(input)));
  const object = contracts[file]?.[basename(source, '.sol')]?.evm.bytecode.object;
  if (errors.length > 0 || !object) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return `0x${object}`;
}

/** Writes the code beside its source: `GuardSearch.sol` becomes `guard-search-code.ts` with `GUARD_SEARCH_CODE`. */
function writeCreationCode(source: string): void {
  const code = compileCreationCode(source);
  const words = basename(source, '.sol').split(/(?<=[a-z])(?=[A-Z])/);
  const target = source.replace(/[^/]+$/, `${words.join('-').toLowerCase()}-code.ts`);
  const comment = `/** Creation code of \`${basename(source)}\`, made by \`npx tsx devnet/compile-creation-code.ts\`. */`;
  const constant = `${words.join('_').toUpperCase()}_CODE`;
  writeFileSync(
    target,
    `import type { Hex } from 'viem';\n\n${comment}\nexport const ${constant}: Hex =\n  '${code}';\n`,
  );
  stdout.write(`${target}: ${(code.length - 2) / 2} bytes\n`);
}

if (fileURLToPath(import.meta.url) === argv[1]) argv.slice(2).forEach(writeCreationCode);
