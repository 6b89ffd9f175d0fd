import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const MB = 1e6;
const PAGE = 'docs/build/dependencies.md';

type Package = { readonly path: string; readonly bytes: number; readonly isDev: boolean };

type LockedPackage = {
  readonly dev?: boolean;
  readonly dependencies?: object;
  readonly devDependencies?: object;
};

const lock = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** Those of this machine: the lock file also has binaries of other ones. */
const installed: Package[] = Object.entries(lock.packages)
  .filter(([path]) => path !== '' && existsSync(join(PROJECT_ROOT, path)))
  .map(([path, { dev = false }]) => ({ path, bytes: bytesBelow(join(PROJECT_ROOT, path)), isDev: dev }));

test('npm ci installs 530 packages and 730 MB at most, of production 240 and 200 MB', () => {
  const production = installed.filter(({ isDev }) => !isDev);
  expect(installed.length).toBeGreaterThan(production.length);
  expect(installed.length).toBeLessThanOrEqual(530);
  expect(total(installed)).toBeLessThanOrEqual(730 * MB);
  expect(production.length).toBeLessThanOrEqual(240);
  expect(total(production)).toBeLessThanOrEqual(200 * MB);
});

test(`each direct package, and each of the largest twenty, has its reason in ${PAGE}`, () => {
  const page = readFileSync(join(PROJECT_ROOT, PAGE), 'utf8');
  const { dependencies, devDependencies } = lock.packages[''] ?? {};
  const direct = Object.keys({ ...dependencies, ...devDependencies });
  const largest = installed.toSorted((one, other) => other.bytes - one.bytes).slice(0, 20);
  const names = largest.map(({ path }) => path.replace('node_modules/', '').replace('/node_modules/', '/…/'));
  expect(direct.length).toBeGreaterThan(50);
  expect([...direct, ...names].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

// Both versions of TypeScript bring a `tsc`: npm links the one whose folder sorts first.
test('`tsc` is TypeScript 7, and the API of TypeScript is 5.9', () => {
  expect(readlinkSync(join(PROJECT_ROOT, 'node_modules/.bin/tsc'))).toBe('../@typescript/native/bin/tsc');
  expect(ts.versionMajorMinor).toBe('5.9');
});

test('the dependency bot has rules of packages that are installed', () => {
  const { packageRules } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'renovate.json'), 'utf8')) as {
    readonly packageRules: readonly { readonly matchPackageNames?: readonly string[] }[];
  };
  const named = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  expect(named).toContain('ponder');
  expect(named.filter((name) => !lock.packages[`node_modules/${name}`])).toEqual([]);
});

const total = (packages: readonly Package[]) => packages.reduce((sum, { bytes }) => sum + bytes, 0);

/** Of the package's own files, without packages installed inside. */
function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return bytesBelow(path);
      return entry.isFile() ? lstatSync(path).size : 0;
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
