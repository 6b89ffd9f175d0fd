import { join } from 'node:path';
import { execa } from 'execa';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { copyCheckout, withChange } from '../invariants/copy-checkout.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const MAIN = ['--import', 'tsx', 'test/simulate/main.ts', '--no-shrink'];

/**
 * Puts each mutation into a copy of the checkout, and simulates until it is found.
 *
 * @param options of `npm run test:simulate`
 * @param write takes lines of a table
 * @returns whether all were found
 */
export async function findMutations(options: readonly string[], write: (line: string) => void): Promise<boolean> {
  const folder = await createTempFolder('simulate');
  const checkout = join(folder.path, 'checkout');
  await copyCheckout(checkout);
  let isEach = true;
  for (const mutation of MUTATIONS) {
    const { found, secs } = await simulateWith(checkout, mutation, options);
    isEach &&= found !== undefined;
    write(`${mutation.name}\t${found ?? 'NOT FOUND'}\t${secs.toFixed(0)} s`);
  }
  await folder.remove();
  return isEach;
}

/** @returns the line of the violation, and how long it took */
async function simulateWith(checkout: string, mutation: Mutation, options: readonly string[]) {
  const startedAt = performance.now();
  const { stdout } = await withChange(checkout, mutation, () =>
    execa('node', [...MAIN, ...options], { cwd: checkout, preferLocal: true, reject: false }),
  );
  const found = stdout.split('\n').find((line) => line.startsWith('seed '));
  return { found, secs: (performance.now() - startedAt) / 1_000 };
}
