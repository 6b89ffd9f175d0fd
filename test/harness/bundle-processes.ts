import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type OnLoadResult } from 'esbuild';
import { createTempFolder, type TempFolder } from '../../devnet/services/temp-folder.ts';
import { logicHash } from '../../indexer/logic-hash.ts';

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

/** Each starts a program of its own, or reads files, from where it is installed. */
const NOT_BUNDLED = [
  '@electric-sql/pglite',
  'esbuild',
  'pg-query-emscripten',
  'rollup',
  'swagger-ui-dist',
  'typescript',
  'vite',
  'vite-node',
];

/**
 * Compiles the project's processes with their packages once for a run. Under tsx each start compiles anew and hands every
 * module of every package to another thread; unbundled, a start reads some thousand files: of the 7 s of processor time
 * that an indexer took to start, and the 1.5 s of an API, half is left.
 *
 * @returns the folder, which has `api/main.mjs` for `api/main.ts`
 */
export async function bundleProcesses(): Promise<TempFolder> {
  // Inside the project: packages that are not bundled are looked up from here.
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
    external: ['ponder:*', ...NOT_BUNDLED],
    // Errors are told apart by the names of their classes.
    keepNames: true,
    // CommonJS modules ask for Node's own by `require`.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom('${ROOT}');`,
    },
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'what a source looks up at run time is found from the bundle',
        setup: ({ onLoad }) => onLoad({ filter: SOURCES }, async ({ path }) => load(path, folder.path)),
      },
    ],
  });
  await prepareForPonder(folder.path);
  return folder;
}

const PONDER_MAIN = 'node_modules/ponder/dist/esm/bin/ponder.js';
const SOURCES = /[.]ts$|[/]ponder[/]dist[/]esm[/]bin[/]ponder[.]js$/;

async function load(path: string, folder: string): Promise<OnLoadResult> {
  // The same for all starts of a run.
  if (path === join(ROOT, 'indexer/logic-hash.ts')) {
    return { contents: `export const logicHash = () => '${logicHash()}';` };
  }
  const url = (file: string) => JSON.stringify(pathToFileURL(file).href);
  const contents = (await readFile(path, 'utf8'))
    .replace(`import(new URL('./bin/ponder.js', import.meta.resolve('ponder')).href)`, `import('../${PONDER_MAIN}')`)
    .replace(`new URL('../main.ts', import.meta.url)`, `new URL(${url(join(folder, 'indexer/main.mjs'))})`)
    .replace(`new URL('.', import.meta.url)`, `new URL(${url(join(folder, 'indexer/'))})`)
    .replaceAll('import.meta.url', url(path));
  return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
}

/** Gives what Ponder loads the names that it expects. */
async function prepareForPonder(folder: string): Promise<void> {
  const registration = join(folder, REGISTRATION);
  await rename(`${registration}.mjs`, `${registration}.ts`);
  for (const [file, exported] of Object.entries(PONDER_ROOT)) {
    const names = exported === '*' ? exported : `{ ${exported} }`;
    await writeFile(join(folder, `${file}.ts`), `export ${names} from './${basename(file)}.mjs';\n`);
  }
}
