import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import type { Check, Project } from './project.ts';

const MB = 1e6;
const PAGE = 'docs/build/dependencies.md';
/** What `npm ci` installs at most, in packages and bytes: all, and those of production. */
const LIMITS = { all: { packages: 530, bytes: 730 * MB }, production: { packages: 240, bytes: 200 * MB } };

type Package = { readonly path: string; readonly bytes: number; readonly isDev: boolean };

type LockedPackage = {
  readonly dev?: boolean;
  readonly dependencies?: object;
  readonly devDependencies?: object;
};

const lockOf = ({ textOf }: Project) =>
  JSON.parse(textOf('package-lock.json')) as { readonly packages: Readonly<Record<string, LockedPackage>> };

/**
 * What `npm ci` installs is bounded, and each direct package, and each of the largest twenty,
 * has its reason in the page.
 */
export const checkPackages: Check = (project) => {
  const { packages } = lockOf(project);
  // Those of this machine: the lock file also has binaries of other ones.
  const installed: Package[] = Object.entries(packages)
    .filter(([path]) => path !== '' && existsSync(join(PROJECT_ROOT, path)))
    .map(([path, { dev = false }]) => ({ path, bytes: bytesBelow(join(PROJECT_ROOT, path)), isDev: dev }));
  const production = installed.filter(({ isDev }) => !isDev);
  const { dependencies, devDependencies } = packages[''] ?? {};
  const direct = Object.keys({ ...dependencies, ...devDependencies });
  const largest = installed.toSorted((one, other) => other.bytes - one.bytes).slice(0, 20);
  const names = largest.map(({ path }) => path.replace('node_modules/', '').replace('/node_modules/', '/…/'));
  const page = project.textOf(PAGE);
  return [
    ...exceeded('all packages', installed, LIMITS.all),
    ...exceeded('packages of production', production, LIMITS.production),
    ...[...direct, ...names].filter((name) => !page.includes(`\`${name}\``)).map((name) => `${PAGE} lacks ${name}`),
  ];
};

/**
 * `tsc` is TypeScript 7, and the API of TypeScript is 5.9: npm links the `tsc` of the package whose folder sorts first.
 */
export const checkCompilers: Check = () => {
  const linked = readlinkSync(join(PROJECT_ROOT, 'node_modules/.bin/tsc'));
  const installed = readFileSync(join(PROJECT_ROOT, 'node_modules/typescript/package.json'), 'utf8');
  const { version } = JSON.parse(installed) as { readonly version: string };
  return [
    ...(linked === '../@typescript/native/bin/tsc' ? [] : [`tsc is ${linked}`]),
    ...(version.startsWith('5.9.') ? [] : [`the package typescript has version ${version}`]),
  ];
};

/** The dependency bot has rules of packages that are installed. */
export const checkBot: Check = (project) => {
  const { packageRules } = JSON.parse(project.textOf('renovate.json')) as {
    readonly packageRules: readonly { readonly matchPackageNames?: readonly string[] }[];
  };
  const { packages } = lockOf(project);
  const named = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  const unknown = named.filter((name) => !packages[`node_modules/${name}`]);
  return [
    ...(named.includes('ponder') ? [] : ['renovate.json has no rule of ponder']),
    ...unknown.map((name) => `renovate.json has a rule of ${name}, which is not installed`),
  ];
};

function exceeded(what: string, packages: readonly Package[], limit: (typeof LIMITS)['all']): readonly string[] {
  const bytes = packages.reduce((sum, each) => sum + each.bytes, 0);
  const isWithin = packages.length <= limit.packages && bytes <= limit.bytes;
  return isWithin ? [] : [`${what}: ${packages.length}, ${Math.ceil(bytes / MB)} MB`];
}

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
