import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { runMain } from '../runtime/run-main.ts';
import { shippedPackages } from './shipped-packages.ts';

/** Not a dependency of the project: with its own packages, it is too large for every installation. */
const GENERATOR = '@cyclonedx/cyclonedx-npm@6.0.1';
const BILL = 'dist/sbom.json';

type Component = {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
};
type Dependency = { readonly ref: string; readonly dependsOn?: readonly string[] };
type Bill = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
};

/** Writes the bill of materials of the image. */
runMain(async () => {
  const options = ['--flatten-components', '--output-reproducible', '--output-format', 'JSON'];
  const { stdout } = await execa(
    'npx',
    // It should not fail when a peer dependency requires another version than the installed one.
    ['--yes', `--package=${GENERATOR}`, 'cyclonedx-npm', '--ignore-npm-errors', ...options],
    { cwd: PROJECT_ROOT },
  );
  const bill: Bill = JSON.parse(stdout);
  const shipped = shippedPackages();
  const components = bill.components.filter((each) => shipped.has(pathOf(each)));
  const refs = new Set([bill.metadata.component, ...components].map((each) => each['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  await writeFile(join(PROJECT_ROOT, BILL), `${JSON.stringify({ ...bill, components, dependencies }, null, 1)}\n`);
  process.stdout.write(`${BILL}: ${components.length} packages\n`);
});

const pathOf = ({ properties = [] }: Component) =>
  properties.find(({ name }) => name === 'cdx:npm:package:path')?.value ?? '';
