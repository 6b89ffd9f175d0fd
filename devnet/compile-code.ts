import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { stdout } from 'node:process';
import { parseArgs } from 'node:util';
import type { Hex } from 'viem';
import { z } from 'zod';

/** Code that every chain runs: nothing newer than Shanghai. */
const SETTINGS = {
  optimizer: { enabled: true, runs: 10_000 },
  viaIR: true,
  evmVersion: 'shanghai',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

const Code = z.object({ object: z.string() });
const Output = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).default([]),
  contracts: z
    .record(z.string(), z.record(z.string(), z.object({ evm: z.object({ bytecode: Code, deployedBytecode: Code }) })))
    .default({}),
});

/** `bytecode` creates a contract, `deployedBytecode` is what it has then. */
type Part = 'bytecode' | 'deployedBytecode';

/**
 * Code of the contract that a Solidity file is named after.
 *
 * @throws Error the compiler's errors and warnings
 */
export function compileCode(source: string, part: Part = 'bytecode'): Hex {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc');
  const file = basename(source);
  const sources = { [file]: { content: readFileSync(source, 'utf8') } };
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS });
  const { errors, contracts } = Output.parse(JSON.parse(solc.compile(input)));
  const object = contracts[file]?.[basename(source, '.sol')]?.evm[part].object;
  if (errors.length > 0 || !object) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return `0x${object}`;
}

/** Writes the code beside its source: `GuardSearch.sol` becomes `guard-search-code.ts` with `GUARD_SEARCH_CODE`. */
function writeCode(source: string, part: Part): void {
  const code = compileCode(source, part);
  const words = basename(source, '.sol').split(/(?<=[a-z])(?=[A-Z])/);
  const target = source.replace(/[^/]+$/, `${words.join('-').toLowerCase()}-code.ts`);
  const [kind, command] = part === 'bytecode' ? ['Creation code', ''] : ['Code', ' --deployed'];
  const comment = `/** ${kind} of \`${basename(source)}\`, made by \`npx tsx devnet/compile-code.ts${command}\`. */`;
  const constant = `${words.join('_').toUpperCase()}_CODE`;
  writeFileSync(
    target,
    `import type { Hex } from 'viem';\n\n${comment}\nexport const ${constant}: Hex =\n  '${code}';\n`,
  );
  stdout.write(`${target}: ${(code.length - 2) / 2} bytes\n`);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { deployed: { type: 'boolean' } } });
  for (const source of positionals) writeCode(source, values.deployed ? 'deployedBytecode' : 'bytecode');
}
