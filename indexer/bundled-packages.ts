import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EXTENSION = /[.]mjs$/;
/** Files that Ponder loads from its root by name. They have no types. */
const PONDER_FILE = /[.]ts$/;

/**
 * From now on a name that has a bundle in the folder, as `ponder/command` or `ponder:command`, comes from that:
 * thousands of small files take longer to find than to run. TypeScript files without types run as they are.
 */
export function resolveBundledPackages(folder: string): void {
  const bundles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => EXTENSION.test(path));
  const urls = new Map(bundles.map((path) => [path.replace(EXTENSION, ''), pathToFileURL(join(folder, path)).href]));
  registerHooks({
    resolve: (name, context, next) => {
      const url = urls.get(name.replace(':', '/'));
      return url === undefined ? next(name, context) : { url, format: 'module', shortCircuit: true };
    },
    load: (url, context, next) =>
      PONDER_FILE.test(url)
        ? { format: 'module', source: readFileSync(fileURLToPath(url)), shortCircuit: true }
        : next(url, context),
  });
}
