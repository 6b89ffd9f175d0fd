import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { GENERATED, pages, textOf, tracked } from './pages.ts';

const { FOLDERS } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly FOLDERS: Readonly<Record<string, { readonly uses: readonly string[] }>>;
};

const isOfFolder = (path: string) => /^[a-z]+\/README\.md$/.test(path) && !path.startsWith('client/');

const MAX_WORDS = 23_000;
/** Of a folder: what lives there, where to start, what it may import, which promise it keeps. */
const MAX_FOLDER_LINES = 10;
/** Of the client package, which is read without the rest. */
const MAX_PACKAGE_WORDS = 800;

test('the pages written by hand have 23,000 words at most, those of the client package 800', () => {
  const wordsOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + textOf(path).split(/\s+/).filter(Boolean).length, 0);
  const written = pages.filter((path) => !GENERATED.includes(path) && !isOfFolder(path));
  const ofPackage = written.filter((path) => path.startsWith('client/'));
  expect(written.length).toBeGreaterThan(15);
  expect(wordsOf(written) - wordsOf(ofPackage)).toBeLessThanOrEqual(MAX_WORDS);
  expect(wordsOf(ofPackage)).toBeLessThanOrEqual(MAX_PACKAGE_WORDS);
});

test('each folder has a README of ten lines that says what it may import, as the layer rules do', () => {
  const folders = new Set(tracked.filter((path) => path.includes('/')).map((path) => path.split('/')[0] as string));
  const coded = [...folders].filter((folder) => !/^([.]|docs$|patches$|client$)/.test(folder));
  expect(coded.length).toBeGreaterThan(15);
  for (const folder of coded) {
    const text = textOf(`${folder}/README.md`);
    expect(text.trim().split('\n').length, folder).toBeLessThanOrEqual(MAX_FOLDER_LINES);
    const imports = /^- \*\*Imports\*\*: (.+?)[.;](?: |$)/m.exec(text)?.[1];
    const allowed = FOLDERS[folder]?.uses;
    if (allowed) expect(imports?.split(', '), folder).toEqual(allowed.length > 0 ? allowed : ['nothing']);
  }
});

test('each page of docs/ begins with a paragraph, and lies on a shelf', () => {
  for (const path of pages.filter((page) => page.startsWith('docs/'))) {
    expect(path).toMatch(/^docs\/(style|(use|run|build)\/[a-z-]+)\.md$/);
    expect(textOf(path), path).toMatch(/^# .+\n\n[A-Z`]/);
  }
});

test('links lead to files, and to headings in them', () => {
  const broken = pages.flatMap((path) =>
    linksOf(path)
      .filter(({ file, anchor }) => !existsSync(join(PROJECT_ROOT, file)) || (anchor && !anchorsOf(file).has(anchor)))
      .map(({ file, anchor }) => `${path}: ${file}#${anchor}`),
  );
  expect(broken).toEqual([]);
});

test('pages that code names exist', () => {
  const named = tracked
    .filter((path) => /\.(ts|tsx|yml|sh|cjs|jsonc|json)$/.test(path) && path !== 'package-lock.json')
    .flatMap((path) => [...textOf(path).matchAll(/docs\/[a-z/-]+\.md/g)].map(([page]) => `${path}: ${page}`));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((line) => !existsSync(join(PROJECT_ROOT, line.split(': ')[1] ?? '')))).toEqual([]);
});

test('each alert has its line in operate.md', () => {
  const alerts = [...textOf('ops/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const lines = textOf('docs/run/operate.md').split('\n');
  expect(alerts.length).toBeGreaterThan(10);
  expect(alerts.filter((name) => !lines.some((line) => line.startsWith('- ') && line.includes(`\`${name}\``)))).toEqual(
    [],
  );
});

const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** Paths of the API, those of WebSockets included, with their parameters. */
const apiPaths = (): readonly string[] => {
  const { paths } = JSON.parse(textOf('client/openapi.json')) as { paths: object };
  const { channels } = JSON.parse(textOf('client/asyncapi.json')) as { channels: Record<string, { address: string }> };
  return [...Object.keys(paths), ...Object.values(channels).map(({ address }) => address)];
};

test('the endpoints of the README are where it says', () => {
  const [, table = ''] = textOf('README.md').split('| Below `/public/v1` | Response |');
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const named = rows.flatMap((row) => {
    const spans = codeIn(row.split(' | ')[0] ?? '').flatMap((code) => code.match(/[/…]\S*\/\S+|\/\w+$/)?.[0] ?? []);
    const [first = ''] = spans;
    return spans.map((path) => `/public/v1${path.replace('…', first.slice(0, first.lastIndexOf('/')))}`);
  });
  expect(named.length).toBeGreaterThan(20);
  const paths = apiPaths();
  expect(named.filter((path) => !paths.includes(path))).toEqual([]);
});

test('install.md lets a balancer forward all that is public', () => {
  const [, list = ''] = textOf('docs/run/install.md').split('forwards only ');
  const forwarded = codeIn(list.split('. ')[0] ?? '');
  const [, documents = ''] = textOf('README.md').split('A running API documents itself at ');
  const isForwarded = (path: string) =>
    forwarded.some((each) => each === path || (each !== '/' && path.startsWith(`${each.replace('/*', '')}/`)));
  const all = [...apiPaths(), ...codeIn(documents.split('\n')[0] ?? '')];
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter((path) => !isForwarded(path))).toEqual([]);
});

test('commands that pages name exist, with their subcommands', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = pages.flatMap((page) => [...textOf(page).matchAll(/npm run ([a-z:-]*[a-z])(?: -- ([a-z]+)\b)?/g)]);
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter(([, script = '', subcommand]) => {
    if (!scripts[script]) return !Object.keys(scripts).some((name) => name.startsWith(`${script}:`));
    const source = `cli/${script}.ts`;
    return subcommand && tracked.includes(source) && !textOf(source).includes(`'${subcommand}'`);
  });
  expect(missing.map(([command]) => command)).toEqual([]);
});

/** Links to files of the project, from its folder. */
function linksOf(page: string): { file: string; anchor: string }[] {
  const prose = textOf(page).replaceAll(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { file: file === '' ? page : normalize(join(dirname(page), file)), anchor };
    });
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
