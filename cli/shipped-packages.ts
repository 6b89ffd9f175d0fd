import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

/** Licences by the folder of the package, as the lock file names it. */
export type Packages = ReadonlyMap<string, string | undefined>;

type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly license?: string }>> };

/** Packages in the image: production dependencies, and packages bundled into `dist/`, which npm counts as dev tools. */
export function shippedPackages(): Packages {
  const { packages }: Lock = JSON.parse(read('package-lock.json'));
  const bundled = new Set<string>(JSON.parse(read('dist/packages.json')));
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && (!dev || bundled.has(path)));
  return new Map(shipped.map(([path, { license }]) => [path, license]));
}

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
