import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { SCHEMA, writeSchema } from './write-schema.ts';

const CLIENT = import.meta.dirname;
/** The package's subpaths. */
const ENTRIES = ['math', 'rest', 'simulate', 'stream'].map((name) => join(CLIENT, `${name}.ts`));

/**
 * Builds the package: modules with everything that they use, source maps, declarations.
 *
 * @param folder to write to
 */
export async function buildClient(folder = join(CLIENT, 'dist')): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await build({
    entryPoints: ENTRIES,
    outdir: folder,
    bundle: true,
    splitting: true,
    sourcemap: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    chunkNames: 'chunk-[hash]',
  });
  await writeSchema();
  const declarations = emitDeclarations().set(SCHEMA, await readFile(SCHEMA, 'utf8'));
  for (const path of reached(declarations, ENTRIES.map(declarationOf))) {
    const target = join(folder, relative(CLIENT, path));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, declarations.get(path) ?? '');
  }
}

const declarationOf = (path: string): string => path.replace(/(?:[.]d)?[.](?:ts|js)$/, '.d.ts');

/** Emits the declarations: texts by path, as if each were written next to its source. */
function emitDeclarations(): Map<string, string> {
  const root = join(CLIENT, '..');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, noEmit: false, declaration: true, emitDeclarationOnly: true, incremental: false },
    root,
  );
  delete options.tsBuildInfoFile;
  const texts = new Map<string, string>();
  ts.createProgram(ENTRIES, options).emit(undefined, (path, text) =>
    texts.set(path, text.replaceAll(/(from '\.[^']*?)(?:\.d)?\.ts'/g, "$1.js'")),
  );
  return texts;
}

/** Finds the paths of the entries and of all that they import, directly or through others. */
function reached(texts: ReadonlyMap<string, string>, entries: readonly string[]): ReadonlySet<string> {
  const found = new Set(entries);
  for (const path of found) {
    const imported = (texts.get(path) ?? '').matchAll(/from '(\.[^']*)'/g);
    for (const [, name = ''] of imported) found.add(declarationOf(join(dirname(path), name)));
  }
  return found;
}

if (import.meta.main) await buildClient();
