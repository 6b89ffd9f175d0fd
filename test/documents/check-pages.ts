import { createRequire } from 'node:module';
import { dirname, normalize } from 'node:path';
import { type Check, expectMany, GENERATED } from './project.ts';

const { FOLDERS } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly FOLDERS: Readonly<Record<string, { readonly uses: readonly string[] }>>;
};

const isOfFolder = (path: string) => /^[a-z]+\/README\.md$/.test(path) && !path.startsWith('client/');

const MAX_WORDS = 23_500;
/** Of a folder: what lives there, where to start, what it may import, which promise it keeps. */
const MAX_FOLDER_LINES = 10;
/** Of the client package, which is read without the rest. */
const MAX_PACKAGE_WORDS = 800;

/** The pages written by hand have a bounded number of words, and so have those of the client package. */
export const checkLength: Check = ({ pages, textOf }) => {
  const wordsOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + textOf(path).split(/\s+/).filter(Boolean).length, 0);
  const written = pages.filter((path) => !GENERATED.includes(path) && !isOfFolder(path));
  const ofPackage = written.filter((path) => path.startsWith('client/'));
  const [packaged, others] = [wordsOf(ofPackage), wordsOf(written) - wordsOf(ofPackage)];
  return [
    ...expectMany('pages', written, 15),
    ...(others > MAX_WORDS ? [`pages have ${others} words, more than ${MAX_WORDS}`] : []),
    ...(packaged > MAX_PACKAGE_WORDS ? [`client/ has ${packaged} words, more than ${MAX_PACKAGE_WORDS}`] : []),
  ];
};

/** Each folder has a README of ten lines that says what it may import, as the layer rules do. */
export const checkFolders: Check = ({ files, textOf }) => {
  const folders = new Set(files.filter((path) => path.includes('/')).map((path) => path.split('/')[0] as string));
  const coded = [...folders].filter((folder) => !/^([.]|docs$|patches$|client$)/.test(folder));
  const wrong = coded.flatMap((folder) => {
    const path = `${folder}/README.md`;
    if (!files.includes(path)) return [`${path} is missing`];
    const text = textOf(path);
    const lines = text.trim().split('\n').length;
    const imports = /^- \*\*Imports\*\*: (.+?)[.;](?: |$)/m.exec(text)?.[1];
    const allowed = FOLDERS[folder]?.uses;
    const expected = allowed && (allowed.join(', ') || 'nothing');
    return [
      ...(lines > MAX_FOLDER_LINES ? [`${path} has ${lines} lines, more than ${MAX_FOLDER_LINES}`] : []),
      ...(expected !== undefined && imports !== expected ? [`${path}: Imports: ${imports}, not ${expected}`] : []),
    ];
  });
  return [...expectMany('folders', coded, 15), ...wrong];
};

/** Each page of docs/ begins with a paragraph, and lies on a shelf. */
export const checkShelves: Check = ({ pages, textOf }) =>
  pages
    .filter((page) => page.startsWith('docs/'))
    .flatMap((page) => [
      ...(/^docs\/(style|(use|run|build)\/[a-z-]+)\.md$/.test(page) ? [] : [`${page} lies on no shelf`]),
      ...(/^# .+\n\n[A-Z`]/.test(textOf(page)) ? [] : [`${page} does not begin with a paragraph`]),
    ]);

/** Links lead to files, and to headings in them. */
export const checkLinks: Check = ({ files, pages, textOf }) => {
  const exists = (path: string) =>
    files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  return pages.flatMap((page) =>
    linksOf(page, textOf(page))
      .filter(({ file, anchor }) => !exists(file) || (anchor && !anchorsOf(textOf(file)).has(anchor)))
      .map(({ file, anchor }) => `${page}: ${file}#${anchor}`),
  );
};

/** Pages that code names exist. */
export const checkNamedPages: Check = ({ files, textOf }) => {
  const named = files
    .filter((path) => /\.(ts|tsx|yml|sh|cjs|jsonc|json)$/.test(path) && path !== 'package-lock.json')
    .flatMap((path) => [...textOf(path).matchAll(/docs\/[a-z/-]+\.md/g)].map(([page]) => ({ path, page })));
  const missing = named.filter(({ page }) => !files.includes(page));
  return [...expectMany('pages in code', named, 5), ...missing.map(({ path, page }) => `${path}: ${page}`)];
};

/** Links to files of the project, from its root. */
function linksOf(page: string, text: string): { file: string; anchor: string }[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { file: file === '' ? page : normalize(`${dirname(page)}/${file}`), anchor };
    });
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
