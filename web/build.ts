import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { listingPath, viewOf } from './pages/pools-query.ts';

/** What the page requests first at `/`. Browsers preload it while they load the scripts, not after them. */
const FIRST_LIST = listingPath(viewOf(new URLSearchParams()));
const escaped = (url: string): string => url.replaceAll('&', '&amp;');

export type WebPage = {
  /** Contents by path: `index.html`, and files in `assets/`, which have the hash of their content in their names. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** Paths of the source files of the page, from the project's folder. */
  readonly sources: readonly string[];
};

/** Builds the explorer page. */
export async function buildWebPage(): Promise<WebPage> {
  const { metafile, outputFiles } = await build({
    entryPoints: ['main.tsx', 'styles.css'].map((name) => join(import.meta.dirname, name)),
    absWorkingDir: join(import.meta.dirname, '..'),
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const nameOf = (entry: string) => {
    const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry);
    if (!found) throw new Error(`${entry} was not built`);
    return basename(found[0]);
  };
  const script = nameOf('web/main.tsx');
  const imports = Object.entries(metafile.outputs).find(([path]) => path.endsWith(script))?.[1].imports ?? [];
  const first = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  const template = await readFile(join(import.meta.dirname, 'index.html'), 'utf8');
  const page = template
    .replace('%STYLE%', nameOf('web/styles.css'))
    .replace('%SCRIPT%', script)
    .replace('%LIST%', `<link rel="preload" as="fetch" crossorigin href="${escaped(FIRST_LIST)}">`)
    .replace('%PRELOAD%', first.map((name) => `<link rel="modulepreload" href="/assets/${name}">`).join('\n'));
  const assets = outputFiles.map(({ path, contents }) => [`assets/${basename(path)}`, contents] as const);
  return {
    files: new Map<string, string | Uint8Array>([...assets, ['index.html', page]]),
    sources: ['web/build.ts', 'web/index.html', ...Object.keys(metafile.inputs)],
  };
}
