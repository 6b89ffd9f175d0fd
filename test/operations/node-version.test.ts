import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const { engines, devEngines, devDependencies } = JSON.parse(textOf('package.json')) as {
  readonly engines: { readonly node: string };
  readonly devEngines: { readonly runtime: Readonly<Record<'name' | 'version' | 'onFail', string>> };
  readonly devDependencies: Readonly<Record<'node' | '@types/node', string>>;
};
/** The Node that comes with the packages. All else has to name the same. */
const NODE = devDependencies.node;
const MAJOR = NODE.split('.')[0] ?? '';

test('package.json asks for the Node that it brings, and lets npm of an older one install it', () => {
  expect(NODE).toMatch(/^\d+[.]\d+[.]\d+$/);
  expect(engines).toEqual({ node: `>=${MAJOR}` });
  // With "warn" each npm run would print seven lines on a machine whose own Node is older, although another one runs.
  expect(devEngines).toEqual({ runtime: { name: 'node', version: `>=${MAJOR}`, onFail: 'ignore' } });
  expect(devDependencies['@types/node'].split('.')[0]).toBe(MAJOR);
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  expect(packages['node_modules/node']?.version).toBe(NODE);
});

test('the image builds with the same Node, and runs on its major version', () => {
  const images = [...textOf('Dockerfile').matchAll(/^FROM \S*?node(?:js|:)([0-9.]+)/gm)].map(([, version]) => version);
  expect(images).toEqual([NODE, MAJOR]);
});

test('bundles are for it, and CI takes it', () => {
  expect(textOf('build.ts')).toContain(`target: 'node${MAJOR}'`);
  const { jobs } = parse(textOf('.github/workflows/ci.yml'));
  const versions = Object.values<{ steps: { with?: Record<string, unknown> }[] }>(jobs).flatMap(({ steps }) =>
    steps.flatMap((step) => step.with?.['node-version'] ?? []),
  );
  expect(versions.map(String)).toEqual([MAJOR]);
});
