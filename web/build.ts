import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { listingPath, viewOf } from './pages/pools-query.ts';

/** Where the finished page lies; the API serves what is there. */
const DIST = fileURLToPath(new URL('./dist/', import.meta.url));
const SOURCE = fileURLToPath(new URL('./', import.meta.url));

/** What the page asks for at `/`: browsers fetch it beside the scripts, not after them. */
const FIRST_LIST = listingPath(viewOf(new URLSearchParams()));
const escaped = (url: string): string => url.replaceAll('&', '&amp;');

/** Builds the page: files named by the hash of their content, and `index.html`, which names the first of them. */
export async function buildExplorer(): Promise<void> {
  const { metafile, outputFiles } = await build({
    entryPoints: [`${SOURCE}main.tsx`, `${SOURCE}styles.css`],
    absWorkingDir: SOURCE,
    outdir: `${DIST}assets`,
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
    return found[0].replace(/^.*\//, '');
  };
  const script = nameOf('main.tsx');
  const imports = Object.entries(metafile.outputs).find(([path]) => path.endsWith(script))?.[1].imports ?? [];
  const first = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path.replace(/^.*\//, ''));
  const template = await readFile(`${SOURCE}index.html`, 'utf8');
  const page = template
    .replace('%STYLE%', nameOf('styles.css'))
    .replace('%SCRIPT%', script)
    .replace('%LIST%', `<link rel="preload" as="fetch" crossorigin href="${escaped(FIRST_LIST)}">`)
    .replace('%PRELOAD%', first.map((name) => `<link rel="modulepreload" href="/assets/${name}">`).join('\n'));
  await mkdir(`${DIST}assets`, { recursive: true });
  for (const { path, contents } of outputFiles) await place(path, contents);
  await place(`${DIST}index.html`, page);
  const built = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of await readdir(`${DIST}assets`)) {
    if (!built.has(name)) await rm(`${DIST}assets/${name}`, { force: true });
  }
}

/** Processes that start meanwhile read whole files: one that is there stays until its successor is complete. */
async function place(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${DIST}${basename(path)}.${randomUUID()}`;
  await writeFile(unfinished, content);
  await rename(unfinished, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildExplorer();
