import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { execa } from 'execa';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { copyCheckout, withChange } from './copy-checkout.ts';
import { INVARIANTS, type Invariant } from './invariants.ts';

type Result = { readonly fullName: string; readonly status: string };
type Report = { readonly testResults: readonly { readonly assertionResults: readonly Result[] }[] };

/** Changes a copy of the checkout so that one invariant after the other is false, and shows that its test notices. */
runMain(async () => {
  const command = new Command('invariants')
    .description('Changes the code so that an invariant is false, and runs its test.')
    .argument('[numbers...]', 'of invariants; default: all')
    .parse();
  const chosen = INVARIANTS.filter((_, index) => command.args.length === 0 || command.args.includes(`${index + 1}`));
  const folder = await createTempFolder('invariants');
  const checkout = join(folder.path, 'checkout');
  await copyCheckout(checkout);
  const before = await runTests(checkout, chosen);
  let noticed = 0;
  for (const invariant of chosen) {
    const after = await runWhenFalse(checkout, invariant);
    const change = `${statusOf(invariant, before)}, then ${statusOf(invariant, after)}`;
    if (change === 'passed, then failed') noticed += 1;
    process.stdout.write(`${INVARIANTS.indexOf(invariant) + 1}\t${change}\t${invariant.holds}\n`);
  }
  await folder.remove();
  process.stdout.write(`${noticed} of ${chosen.length} mutations were noticed\n`);
  process.exitCode = noticed === chosen.length ? 0 : 1;
});

async function runWhenFalse(checkout: string, invariant: Invariant): Promise<readonly Result[]> {
  const [file, text, replacement] = invariant.mutation;
  return withChange(checkout, { file, text, replacement }, () => runTests(checkout, [invariant]));
}

async function runTests(checkout: string, invariants: readonly Invariant[]): Promise<readonly Result[]> {
  const report = join(checkout, 'report.json');
  await rm(report, { force: true });
  const files = new Set(invariants.map(({ test: [file] }) => file));
  const names = invariants.map(({ test: [, name] }) => name.replaceAll(/[^\w\s]/g, '.'));
  const options = ['-t', names.join('|'), '--reporter=json', `--outputFile=${report}`];
  // Otherwise the build of a changed index or listing waits for its author's word.
  await execa('node', ['--import', 'tsx', 'cli/logic-version.ts', 'same'], { cwd: checkout });
  await execa('node_modules/.bin/vitest', ['run', ...files, ...options], { cwd: checkout, reject: false });
  const { testResults }: Report = JSON.parse(await readFile(report, 'utf8'));
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}

/** `failed` if a case of the test fails, `missing` if none ran: what does not load shows nothing. */
function statusOf({ test: [, name] }: Invariant, results: readonly Result[]): string {
  const statuses = results.filter(({ fullName }) => fullName.includes(name)).map(({ status }) => status);
  return ['failed', 'passed'].find((status) => statuses.includes(status)) ?? 'missing';
}
