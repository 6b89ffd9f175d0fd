import { readdirSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const EXTENSION = /[.]mjs$/;

/**
 * From now on what packages import by a name that has a bundle in the folder, as `viem/chains`, comes from that: hundreds of
 * small files take longer to find than to run.
 */
export function resolveBundledPackages(folder: string): void {
  const bundles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => EXTENSION.test(path));
  const urls = new Map(bundles.map((path) => [path.replace(EXTENSION, ''), pathToFileURL(join(folder, path)).href]));
  registerHooks({
    resolve: (name, context, next) => {
      const url = urls.get(name);
      return url === undefined ? next(name, context) : { url, format: 'module', shortCircuit: true };
    },
  });
}
