import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { createTempFolder, type TempFolder } from '../../devnet/services/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What tests start; `test/demo.test.ts` and `test/operations/wrong-settings.test.ts` start the sources, as `npm run` does. */
const MAINS = [
  ...['api', 'builders', 'capture', 'indexer'].map((folder) => `${folder}/main.ts`),
  ...['backfill', 'config-check', 'curators', 'delist', 'keys', 'status'].map((command) => `cli/${command}.ts`),
  ...['devnet/demo/main.ts', 'test/abuse/api-process.ts', 'test/pamm/api-process.ts'],
];
/**
 * What Ponder loads from the folder of the indexer's main file, by these names, each with all its exports. Ponder takes
 * 2 s of processor time to transform the package `ponder` for a TypeScript file that imports it, and none for a `.mjs`.
 */
const PONDER_ROOT = {
  'indexer/ponder.config': 'default',
  'indexer/ponder.schema': '*',
  'indexer/src/api/index': 'default',
} as const;
/** It imports what Ponder makes up: it must be transformed. */
const REGISTRATION = 'indexer/src/registration';

/** How the indexer names its main file, and the folder for Ponder: the bundle has both. */
const INDEXER_MAIN = `new URL('../main.ts', import.meta.url)`;
const PONDER_FOLDER = `new URL('.', import.meta.url)`;

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
    entryPoints: [...MAINS, ...[...Object.keys(PONDER_ROOT), REGISTRATION].map((file) => `${file}.ts`)],
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: folder.path,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    external: ['ponder:*'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'files beside a source are found from the bundle',
        setup: ({ onLoad }) =>
          onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
            const source = await readFile(path, 'utf8');
            const url = (file: string) => JSON.stringify(pathToFileURL(file).href);
            const contents = source
              .replaceAll(INDEXER_MAIN, `new URL(${url(join(folder.path, 'indexer/main.mjs'))})`)
              .replaceAll(PONDER_FOLDER, `new URL(${url(join(folder.path, 'indexer/'))})`)
              .replaceAll('import.meta.url', url(path));
            return { loader: 'ts', contents };
          }),
      },
    ],
  });
  const registration = join(folder.path, REGISTRATION);
  await rename(`${registration}.mjs`, `${registration}.ts`);
  for (const [file, exported] of Object.entries(PONDER_ROOT)) {
    const names = exported === '*' ? exported : `{ ${exported} }`;
    await writeFile(join(folder.path, `${file}.ts`), `export ${names} from './${basename(file)}.mjs';\n`);
  }
  return folder;
}
