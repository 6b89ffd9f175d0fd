import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { createTempFolder, type TempFolder } from '../../devnet/services/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What tests start; `test/operations/wrong-settings.test.ts` and `test/chaos.test.ts` start the sources, as `npm run` does. */
const MAINS = [
  ...['api', 'builders', 'capture', 'indexer'].map((folder) => `${folder}/main.ts`),
  ...['backfill', 'calibrate', 'config-check', 'curators', 'delist', 'keys', 'status'].map(
    (command) => `cli/${command}.ts`,
  ),
  ...['test/abuse/api-process.ts', 'test/pamm/api-process.ts'],
];

/**
 * Compiles the project's processes once for a run: under tsx each start compiles anew, and hands every module of every
 * package to another thread, which takes the indexer 3.5 s of processor time. Packages stay as they are installed.
 *
 * @returns the folder, which has `api/main.mjs` for `api/main.ts`
 */
export async function bundleProcesses(): Promise<TempFolder> {
  // Inside the project: packages are looked up from here.
  const parent = join(ROOT, 'node_modules/.cache');
  await mkdir(parent, { recursive: true });
  const folder = await createTempFolder('processes', parent);
  await build({
    entryPoints: MAINS,
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: folder.path,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'files beside a source are found from the bundle',
        setup: ({ onLoad }) =>
          onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
            const source = await readFile(path, 'utf8');
            const url = JSON.stringify(pathToFileURL(path).href);
            return { loader: 'ts', contents: source.replaceAll('import.meta.url', url) };
          }),
      },
    ],
  });
  return folder;
}
