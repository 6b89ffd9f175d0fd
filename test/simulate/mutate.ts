import { join } from 'node:path';
import { execa } from 'execa';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { copyCheckout, withChange } from '../invariants/copy-checkout.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

/** Each mutation is to be found within a minute of CPU time. */
const MAIN = [
  '--max-semi-space-size=32',
  '--single-threaded-gc',
  '--import',
  'tsx',
  'test/simulate/main.ts',
  '--no-shrink',
];
const LOAD = ['--seeds=10000', '--seconds=120', '--within=60'];

/**
 * Puts each mutation into a copy of the checkout, and simulates until it is found.
 *
 * @param numbers of mutations, from 1; none: all
 * @param write takes lines of a table
 * @returns whether all were found
 */
export async function findMutations(numbers: readonly number[], write: (line: string) => void): Promise<boolean> {
  const folder = await createTempFolder('simulate');
  const checkout = join(folder.path, 'checkout');
  await copyCheckout(checkout);
  let isEach = true;
  for (const [index, mutation] of MUTATIONS.entries()) {
    if (numbers.length > 0 && !numbers.includes(index + 1)) continue;
    const { found, cpu } = await simulateWith(checkout, mutation);
    isEach &&= found !== undefined;
    write(`${index + 1}\t${mutation.name}\t${found ?? 'NOT FOUND'}\t${cpu}`);
  }
  await folder.remove();
  return isEach;
}

/** @returns the line of the violation, and how long it took */
async function simulateWith(checkout: string, mutation: Mutation) {
  const { stdout } = await withChange(checkout, mutation, () =>
    execa('node', [...MAIN, ...LOAD], { cwd: checkout, preferLocal: true, reject: false }),
  );
  const lines = stdout.split('\n');
  return { found: lines.find((line) => line.startsWith('seed ')), cpu: lines.at(-1) };
}
