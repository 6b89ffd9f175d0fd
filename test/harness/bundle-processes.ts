import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type OnLoadResult } from 'esbuild';
import { createTempFolder, type TempFolder } from '../../devnet/services/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What tests start; `test/indexer-state.test.ts` and `test/operations/wrong-settings.test.ts` start sources, as `npm run`. */
const MAINS = [
  ...['api', 'builders', 'capture', 'indexer'].map((folder) => `${folder}/main.ts`),
  ...['backfill', 'calibrate', 'config-check', 'curators', 'delist', 'keys', 'status'].map(
    (command) => `cli/${command}.ts`,
  ),
  'devnet/demo/main.ts',
  'test/abuse/api-process.ts',
  'test/pamm/api-process.ts',
];
/** What Ponder loads, by these names, from the folder of the indexer's main file. */
const PONDER_ROOT = ['ponder.config', 'ponder.schema', 'src/registration', 'src/api/index'].map(
  (file) => `indexer/${file}`,
);

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
 * module of every package to another thread; unbundled, a start reads some thousand files. Processor time of a start: an
 * indexer 2 s instead of 7, an API 0.5 s instead of 1.4.
 *
 * @returns the folder, which has `api/main.mjs` for `api/main.ts`
 */
export async function bundleProcesses(): Promise<TempFolder> {
  // Inside the project: packages that are not bundled are looked up from here.
  const parent = join(ROOT, 'node_modules/.cache');
  await mkdir(parent, { recursive: true });
  const folder = await createTempFolder('processes', parent);
  const { metafile } = await build({
    entryPoints: [
      ...MAINS.map((file) => ({ in: file, out: file.replace(/[.]ts$/, '') })),
      ...PONDER_ROOT.map((file) => ({ in: `${file}.ts`, out: nativeModule(file) })),
    ],
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: folder.path,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    external: NOT_BUNDLED,
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
        setup: ({ onLoad, onResolve }) => {
          onLoad({ filter: SOURCES }, ({ path }) => load(path, folder.path));
          onResolve({ filter: /^ponder:registry$/ }, ({ path }) => ({ path, namespace: 'ponder' }));
          onLoad({ filter: /./, namespace: 'ponder' }, () => ({
            contents: `export const { ponder } = globalThis.${REGISTRY};`,
          }));
        },
      },
    ],
  });
  for (const file of PONDER_ROOT) {
    const output = relative(ROOT, join(folder.path, `${nativeModule(file)}.mjs`));
    await writePonderModule(folder.path, file, metafile.outputs[output]?.exports ?? []);
  }
  return folder;
}

const PONDER_MAIN = 'node_modules/ponder/dist/esm/bin/ponder.js';
const SOURCES = /[.]ts$|[/]ponder[/]dist[/]esm[/]bin[/]ponder[.]js$/;

async function load(path: string, folder: string): Promise<OnLoadResult> {
  const url = (file: string) => JSON.stringify(pathToFileURL(file).href);
  const contents = (await readFile(path, 'utf8'))
    .replace(`import(new URL('./bin/ponder.js', import.meta.resolve('ponder')).href)`, `import('../${PONDER_MAIN}')`)
    .replace(`new URL('../main.ts', import.meta.url)`, `new URL(${url(join(folder, 'indexer/main.mjs'))})`)
    .replace(`new URL('.', import.meta.url)`, `new URL(${url(join(folder, 'indexer/'))})`)
    .replaceAll('import.meta.url', url(path));
  return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
}

const REGISTRY = 'PONDER_REGISTRY';

/** Beside what Ponder looks for: it runs all files of `src`. */
function nativeModule(file: string): string {
  return file.replace('indexer/', 'indexer/native/');
}

/**
 * Ponder transforms each TypeScript file and all that it imports statically, packages included: 2 s of processor time. It
 * finds these, which have Node load the module.
 */
async function writePonderModule(folder: string, file: string, exported: readonly string[]): Promise<void> {
  const path = join(folder, `${file}.ts`);
  await mkdir(dirname(path), { recursive: true });
  const named = exported.filter((name) => name !== 'default');
  const lines = [
    `import * as registry from 'ponder:registry';`,
    `globalThis.${REGISTRY} = registry;`,
    `const native = await import('${join(folder, nativeModule(file))}.mjs');`,
    `export const { ${named.join(', ')} } = native;`,
    ...(named.length < exported.length ? ['export default native.default;'] : []),
  ];
  await writeFile(path, lines.join('\n'));
}
